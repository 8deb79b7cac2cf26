import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Access, outputOf, readStack, type StackSpec } from '../../../local/template/stack.ts';
import { routesOf } from '../../../weave/api/routes.ts';
import type { Dialect } from '../../../weave/policy.ts';
import { prepare } from '../../reliability/trial.ts';
import { assemblyWith } from '../../support/assembly-with.ts';
import { fixtureOf, fixtures, permittedTo, scenariosOf } from '../../support/endpoints/index.ts';
import { overHttp } from '../../support/over-http.ts';
import { startService, type TestService } from '../../support/service.ts';
import { exercise } from './traffic.ts';
import { exerciseWeave } from './weave-traffic.ts';

/**
 * What every function may do for its own log and traces, through Lambda's runtime: no request of
 * its own code.
 */
const ofTheRuntime = [
  'logs:CreateLogStream',
  'logs:PutLogEvents',
  'xray:PutTraceSegments',
  'xray:PutTelemetryRecords',
];

const storeNames = {
  calls: 'CallsTable',
  objects: 'ObjectsTable',
  costs: 'CostsTable',
  feedback: 'FeedbackTable',
  rollups: 'RollupsTable',
  keys: 'KeysTable',
  bucket: 'PayloadsBucket',
} as const;

/**
 * A permission as the tables of the tests have it, e.g. `Query on calls/index/by_time`; objects by
 * their prefix.
 */
const shortName = (stack: StackSpec, { action, resource }: Access): string => {
  const path = resource.replace(/^.*:(?:table\/)?/, '');
  const [name = '', ...rest] = path.split('/');
  const [store = name] =
    Object.entries(storeNames).find(([, output]) => outputOf(stack, output) === name) ?? [];
  const below = store === 'bucket' && rest.length > 0 ? [rest[0], '*'] : rest;
  return `${action.replace(/^.*:/, '')} on ${[store, ...below].join('/')}`;
};

/** What the template allows a route's function, or the authorizer. */
const allowedTo = (stack: StackSpec, source: string): string[] => {
  const route = stack.api.routes.find(
    ({ path, authorizer }) => path === source || (source === 'authorizer' && authorizer),
  );
  const spec = source === 'authorizer' ? route?.authorizer?.function : route?.function;
  const statements = (stack.policies().get(spec?.arn ?? '') ?? []).flatMap(({ Statement }) => Statement);
  expect(statements.every(({ Effect }) => Effect === 'Allow')).toBe(true);
  const accesses = statements.flatMap(({ Action, Resource }) =>
    Action.flatMap((action) => Resource.map((resource) => ({ action, resource }))),
  );
  const own = accesses.filter(({ action }) => !ofTheRuntime.includes(action));
  return [...new Set(own.map((access) => shortName(stack, access)))].sort();
};

/** The permissions of a fixture as single ones: an action and what it is on. */
const single = (lines: readonly string[]): string[] => {
  const all = lines.flatMap((line) => {
    const [resource = '', actions = ''] = line.split(': ');
    return actions.split(' ').map((action) => `${action} on ${resource}`);
  });
  return [...new Set(all)].sort();
};

/** What has permissions at the stores in a dialect. */
const sourcesOf = (dialect: Dialect): readonly string[] => [
  'authorizer',
  ...allRoutes
    .filter(({ stores }) => Object.keys(stores).length > 0)
    .map(({ path }) => path),
];

describe.each(['svc', 'weave'] as const)('in the dialect %s, the role of', (dialect) => {
  const sources = sourcesOf(dialect);
  let stack: StackSpec;
  beforeAll(async () => {
    stack = readStack(await assemblyWith(dialect === 'svc' ? undefined : { dialect }));
  });

  it.each(sources)('%s allows exactly what is listed for it', (source) => {
    expect(allowedTo(stack, source)).toEqual(single(permittedTo(source, dialect)));
  });

  it('every other function allows nothing', () => {
    const others = allRoutes.filter(({ path }) => !sources.includes(path));
    expect(others.flatMap(({ path }) => allowedTo(stack, path))).toEqual([]);
  });
});

/** The requests that use what roles allow in each dialect. */
const uses = [
  ['svc', exercise],
  ['weave', exerciseWeave],
] as const;

describe.each(uses)('of what the roles allow in the dialect %s', (dialect, send) => {
  let service: TestService;
  const used = new Map<string, Set<string>>();
  // What all dialects have is looked at in the first, but for what it does in this one alone.
  const listed = sourcesOf(dialect).flatMap((source): [string, readonly string[]][] => {
    const own = single(permittedTo(source, dialect));
    const isShared = dialect === 'weave' && (source === 'authorizer' || source in fixtures);
    const inFirst = isShared ? single(permittedTo(source, 'svc')) : [];
    return [[source, own.filter((of) => !inFirst.includes(of))]];
  });
  const unusedBy = (source: string): string[] => {
    const all = listed.find(([of]) => of === source)?.[1] ?? [];
    const seldom = source === 'authorizer' ? {} : fixtureOf(source).seldom;
    return all.filter((of) => !used.get(source)?.has(of) && !(seldom && of in seldom));
  };
  beforeAll(async () => {
    service = await startService({
      onAccess: (source, access) => {
        const ofSource = used.get(source) ?? new Set();
        used.set(source, ofSource.add(shortName(service.stack, access)));
      },
      ...(dialect === 'weave' && { settings: { dialect } }),
    });
    await send(service);
    // What this traffic has not used, the scenarios of the routes may; the last makes the most kinds
    // of requests.
    const sender = overHttp(service);
    for (const [source] of listed.filter(([of]) => of !== 'authorizer'))
      for (const scenario of scenariosOf(source, dialect).toReversed())
        if (unusedBy(source).length > 0) await sender.send((await prepare(sender, scenario)).request);
  }, 180_000);
  afterAll(() => service.stop());

  it('nothing more was needed by any request', () => {
    expect(service.logged.filter((line) => line.startsWith('store: '))).toEqual([]);
  });

  it.each(listed)('%s uses all, or the exception is explained', (source) => {
    const advice = 'let a scenario use each, say in seldom why it is needed, or take it from api/access.ts';
    expect(unusedBy(source), advice).toEqual([]);
  });
});
