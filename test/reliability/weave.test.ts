import { doorRoutes } from '../support/endpoints/index.ts';
import { describeFaults } from './suite.ts';

describeFaults(doorRoutes, { sampled: true });
