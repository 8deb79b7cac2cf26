import { isKeyed } from '../../api/endpoint.ts';
import { allRoutes } from '../../api/routes.ts';
import { scenariosOf } from '../support/endpoints/index.ts';
import { describeFaults } from './suite.ts';

const routes = routesOf('weave').filter(isKeyed);
// Of the routes that are of all dialects those have scenarios here that do more in this one.
const others = routes.filter(({ path }) => scenariosOf(path, 'weave').length > 0);
describeFaults(others, { dialect: 'weave', sampled: true });
