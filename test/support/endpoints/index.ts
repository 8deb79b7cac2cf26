import type { Route } from '../../../api/endpoint.ts';
import { routes } from '../../../api/routes.ts';
import { agentFixtures } from './agents.ts';
import { alertFixtures } from './alerts.ts';
import { callFixtures } from './calls.ts';
import { costFixtures } from './costs.ts';
import { evaluatorFixtures } from './evaluators.ts';
import { feedbackFixtures } from './feedback.ts';
import { type Fixture, type KeyedPath, requestTo } from './fixture.ts';
import { objectFixtures } from './objects.ts';
import { peopleFixtures } from './people.ts';
import { projectFixtures } from './project.ts';
import { promptFixtures } from './prompts.ts';
import { queryFixtures } from './queries.ts';
import type { Scenario, Use } from './scenario.ts';
import { sharingFixtures } from './sharing.ts';
import { tableFixtures } from './tables.ts';
import { filling, getNames } from './tenants.ts';
import { doorFixtures, doorPath, doorPermitted, doorScenarios, doorUses } from './weave.ts';

export { doorRoutes } from './door.ts';
export { type Fixture, type KeyedPath, requestTo } from './fixture.ts';
export type { Scenario, Use } from './scenario.ts';
export { doorPath, getFunctionPath } from './weave.ts';

/** The fixture of each documented route that takes a key with a role, or a link. */
export const fixtures: Readonly<Record<KeyedPath | keyof typeof sharingFixtures, Fixture>> = {
  ...callFixtures,
  ...queryFixtures,
  ...objectFixtures,
  ...promptFixtures,
  ...costFixtures,
  ...feedbackFixtures,
  ...tableFixtures,
  ...agentFixtures,
  ...evaluatorFixtures,
  ...alertFixtures,
  ...peopleFixtures,
  ...projectFixtures,
  ...sharingFixtures,
};

const everyFixture: Readonly<Record<string, Fixture>> = { ...fixtures, ...doorFixtures };

/** The fixture of a route that takes a key with a role, or a link. */
export const getFixture = (path: string): Fixture => {
  const fixture = everyFixture[path];
  if (!fixture) throw new Error(`${path} has no fixture`);
  return fixture;
};

/** Whether storage can fail a route. */
export const usesStores = ({ stores }: Pick<Route, 'stores'>): boolean => Object.keys(stores).length > 0;

/** The good request of a route to a project that has one of everything. */
const defaultScenario = (path: string): Scenario => {
  const route = routes.find((candidate) => candidate.path === path);
  if (!route) throw new Error(`${path} is no route`);
  return {
    name: 'its request to a project that has one of everything',
    before: filling,
    request: (project, answers) => requestTo(route, getFixture(path), project, getNames(answers)),
  };
};

/** The scenarios of a route, and of all that Weave's door has. */
export const getScenarios = (path: string): readonly Scenario[] =>
  path === doorPath ? doorScenarios : (getFixture(path).scenarios ?? [defaultScenario(path)]);

/** Requests that between them use all that the function of a route may do, those that use the most first. */
export const getUses = (path: string): readonly Use[] => [
  ...getScenarios(path).toReversed(),
  ...(path === doorPath ? doorUses : (getFixture(path).uses ?? [])),
];

/** What the function of a route may do to the stores, and the authorizer. */
export const permittedTo = (source: string): readonly string[] => {
  if (source === 'authorizer') return ['keys: GetItem UpdateItem'];
  return source === doorPath ? doorPermitted : getFixture(source).permitted;
};
