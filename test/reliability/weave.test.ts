import { isKeyed } from '../../api/endpoint.ts';
import { routesOf } from '../../weave/api/routes.ts';
import { weaveScenarios } from './scenarios/weave.ts';
import { describeFaults } from './suite.ts';

const routes = routesOf('weave').filter(isKeyed);
// Of the routes that are of all dialects those have scenarios here that do more in this one.
const others = routes.filter(({ path, dialect }) => dialect === 'weave' || weaveScenarios[path]);
describeFaults(others, { dialect: 'weave', scenarios: weaveScenarios, sampled: true });
