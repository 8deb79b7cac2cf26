import { routes } from '../../lib/routes.ts';
import { describeFaults } from './suite.ts';

describeFaults(routes.filter(({ role }) => role === 'read'));
