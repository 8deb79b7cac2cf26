import type { Route } from '../../../api/endpoint.ts';
import { allRoutes } from '../../../weave/api/routes.ts';
import type { Dialect } from '../../../weave/policy.ts';
import { agentFixtures } from './agents.ts';
import { alertFixtures } from './alerts.ts';
import { callFixtures } from './calls.ts';
import { costFixtures } from './costs.ts';
import { evaluatorFixtures } from './evaluators.ts';
import { feedbackFixtures } from './feedback.ts';
import { type Fixture, type KeyedPath, requestTo } from './fixture.ts';
import { objectFixtures } from './objects.ts';
import { queryFixtures } from './queries.ts';
import type { Scenario } from './scenario.ts';
import { tableFixtures } from './tables.ts';
import { filling, fillingInWeave, namesOf } from './tenants.ts';
import { furtherInWeave, weaveFixtures } from './weave.ts';

export { type Fixture, type KeyedPath, requestTo } from './fixture.ts';
export type { Scenario } from './scenario.ts';

/** The fixture of each route that takes a key with a role, in all dialects. */
export const fixtures: Readonly<Record<KeyedPath, Fixture>> = {
  ...callFixtures,
  ...queryFixtures,
  ...objectFixtures,
  ...costFixtures,
  ...feedbackFixtures,
  ...tableFixtures,
  ...agentFixtures,
  ...evaluatorFixtures,
  ...alertFixtures,
};

const everyFixture: Readonly<Record<string, Fixture>> = { ...fixtures, ...weaveFixtures };

/** The fixture of a route that takes a key with a role. */
export const fixtureOf = (path: string): Fixture => {
  const fixture = everyFixture[path];
  if (!fixture) throw new Error(`${path} has no fixture`);
  return fixture;
};

/** Whether storage can fail a route. */
export const usesStores = ({ stores }: Pick<Route, 'stores'>): boolean => Object.keys(stores).length > 0;

/** The good request of a route to a project that has one of everything. */
const defaultScenario = (path: string, dialect: Dialect): Scenario => {
  const route = allRoutes.find((each) => each.path === path);
  if (!route) throw new Error(`${path} is no route`);
  return {
    name: 'its request to a project that has one of everything',
    before: dialect === 'weave' ? fillingInWeave : filling,
    request: (project, answers) => requestTo(route, fixtureOf(path), project, namesOf(answers, dialect)),
  };
};

/**
 * The scenarios of a route. In Weave's dialect they are what it does there and in no other: none
 * for most routes that all dialects have.
 */
export const scenariosOf = (path: string, dialect: Dialect = 'svc'): readonly Scenario[] => {
  if (dialect === 'weave' && path in fixtures) return furtherInWeave[path as KeyedPath]?.scenarios ?? [];
  return fixtureOf(path).scenarios ?? [defaultScenario(path, dialect)];
};

/** What the function of a route may do to the stores in a dialect, and the authorizer. */
export const permittedTo = (source: string, dialect: Dialect): readonly string[] => {
  if (source === 'authorizer') return ['keys: GetItem'];
  const further = dialect === 'weave' ? furtherInWeave[source as KeyedPath]?.permitted : undefined;
  return [...fixtureOf(source).permitted, ...(further ?? [])];
};
