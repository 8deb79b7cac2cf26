import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Dialect } from '../../../core/foundations/wire/names.ts';
import type { Access } from '../../../local/template/policies.ts';
import { outputOf, readStack, type StackSpec } from '../../../local/template/stack.ts';
import { routesOf } from '../../../weave/api/routes.ts';
import { assemblyWith } from '../../support/assembly-with.ts';
import { startService, type TestService } from '../../support/service.ts';
import { permitted, permittedInWeave, single } from './permissions.ts';
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

/** What no traffic can be made to do at will, and why it is needed all the same. */
const seldom: Readonly<Record<string, string>> = {
  '/calls/stream_query: Query on calls':
    'a call whose end moved between the reading of index and item is looked up by its id',
  '/calls/query_stats: Query on calls': 'as for /calls/stream_query',
  '/calls/stats: Query on calls': 'as for /calls/stream_query',
  '/calls/stats: BatchWriteItem on rollups':
    'rollups are stored when the marks of the writes before are over, after minutes',
  '/calls/usage: Query on calls': 'as for /calls/stream_query',
  '/trace/usage: Query on calls': 'as for /calls/stream_query',
  '/calls/usage: GetObject on bucket/segments/*':
    'usage that is too large for a header, of a call whose payload is too large for an item',
  '/calls/usage: ListBucket on bucket': 'the same',
};

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

type Source = keyof typeof permitted;

/** What a function may do in a dialect, by the tables of the tests. */
const listedFor = (dialect: Dialect, source: Source): string[] => {
  const ofWeave: Partial<typeof permitted> = dialect === 'weave' ? permittedInWeave : {};
  return single([...(permitted[source] ?? []), ...(ofWeave[source] ?? [])]);
};

describe.each(['svc', 'weave'] as const)('in the dialect %s, the role of', (dialect) => {
  const sources: readonly Source[] = [
    'authorizer',
    ...routesOf(dialect)
      .filter(({ stores }) => Object.keys(stores).length > 0)
      .map(({ path }) => path),
  ];
  let stack: StackSpec;
  beforeAll(async () => {
    stack = readStack(await assemblyWith(dialect === 'svc' ? undefined : { dialect }));
  });

  it.each(sources)('%s allows exactly what is listed for it', (source) => {
    expect(allowedTo(stack, source)).toEqual(listedFor(dialect, source));
  });

  it('every other function allows nothing', () => {
    const others = routesOf(dialect).filter(({ path }) => !sources.includes(path));
    expect(others.flatMap(({ path }) => allowedTo(stack, path))).toEqual([]);
  });
});

/** What is looked at in each dialect, and the requests that use all of it. */
const uses: readonly [
  dialect: Dialect,
  listed: Partial<typeof permitted>,
  send: (service: TestService) => Promise<void>,
][] = [
  ['svc', permitted, exercise],
  ['weave', permittedInWeave, exerciseWeave],
];

describe.each(uses)('of what the roles allow in the dialect %s', (dialect, listed, send) => {
  let service: TestService;
  const used = new Map<string, Set<string>>();
  beforeAll(async () => {
    const seen: [string, Access][] = [];
    service = await startService({
      onAccess: (source, access) => seen.push([source, access]),
      ...(dialect === 'weave' && { settings: { dialect } }),
    });
    await send(service);
    for (const [source, access] of seen) {
      const ofSource = used.get(source) ?? new Set();
      used.set(source, ofSource.add(shortName(service.stack, access)));
    }
  });
  afterAll(() => service.stop());

  it('nothing more was needed by any request', () => {
    expect(service.logged.filter((line) => line.startsWith('store: '))).toEqual([]);
  });

  it.each(Object.entries(listed))('%s uses all, or the exception is explained', (source, lines) => {
    const unused = single(lines ?? []).filter((permission) => !used.get(source)?.has(permission));
    expect(unused.filter((permission) => !(`${source}: ${permission}` in seldom))).toEqual([]);
  });
});
