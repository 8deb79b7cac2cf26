import { isKeyed } from '../../api/endpoint.ts';
import { routes } from '../../api/routes.ts';
import { usesStores } from '../support/endpoints/index.ts';
import { describeFaults } from './suite.ts';

describeFaults(routes.filter(isKeyed).filter((route) => route.role !== 'read' && usesStores(route)));
