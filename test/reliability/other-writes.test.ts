import { isKeyed } from '../../api/endpoint.ts';
import { routes } from '../../api/routes.ts';
import { describeFaults } from './suite.ts';

const writing = routes.filter(isKeyed).filter(({ role }) => role !== 'read');
describeFaults(writing.filter(({ path }) => !path.startsWith('/call')));
