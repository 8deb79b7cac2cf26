import { isKeyed } from '../../api/endpoint.ts';
import { routes } from '../../api/routes.ts';
import { describeFaults } from './suite.ts';

describeFaults(routes.filter(isKeyed).filter(({ role }) => role !== 'read'));
