import { type Access, getOutput, readStack, type StackSpec } from 'cdk-local-runner/template';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as access from '../../../api/access.ts';
import type { Route } from '../../../api/endpoint.ts';
import { allRoutes } from '../../../api/routes.ts';
import { prepare } from '../../reliability/trial.ts';
import { doorPath, getFixture, getUses, permittedTo } from '../../support/endpoints/index.ts';
import { overHttp } from '../../support/service/over-http.ts';
import { startService, type TestService } from '../../support/service/service.ts';
import { assembly } from '../../support/stack/assembly.ts';

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
  bookkeeping: 'RollupsTable',
  keys: 'KeysTable',
  audit: 'AuditTable',
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
    Object.entries(storeNames).find(([, output]) => getOutput(stack, output) === name) ?? [];
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

/** What to do about a request to a store that was refused, as the service logs it. */
const adviseOn = (stack: StackSpec, refusal: string): string => {
  const [, action = '', resource = ''] = / may not (\S+) on (\S+)$/.exec(refusal) ?? [];
  const needed = shortName(stack, { action, resource });
  const [, name, store] = /^(\w+) on (\w+)/.exec(needed) ?? [];
  const ways: Readonly<Record<string, access.Actions>> =
    Object.entries(access).find(([key]) => key === store)?.[1] ?? {};
  const having = Object.keys(ways).filter((way) => name && ways[way]?.table?.includes(name));
  return `${refusal}\n  It needs ${needed}, as in api/access.ts ${store}: ${having.join(', ')}.`;
};

/** Routes that share a function are looked at by the first of their paths, as the service names it. */
const functionPath = ({ handler }: Route): string =>
  allRoutes.find((route) => route.handler === handler)?.path ?? '';

/** What the door's function does seldom, as its endpoints by themselves. */
const seldomByDoor = getFixture('/calls/stats').seldom;

/** What has permissions at the stores. */
const sources: readonly string[] = [
  'authorizer',
  ...new Set(allRoutes.filter(({ stores }) => Object.keys(stores).length > 0).map(functionPath)),
];

describe('the role of', () => {
  let stack: StackSpec;
  beforeAll(() => {
    stack = readStack(assembly());
  });

  it.each(sources)('%s allows exactly what is listed for it', (source) => {
    expect(allowedTo(stack, source)).toEqual(single(permittedTo(source)));
  });

  it('every other function allows nothing', () => {
    const others = [...new Set(allRoutes.map(functionPath))].filter((path) => !sources.includes(path));
    expect(others.flatMap((path) => allowedTo(stack, path))).toEqual([]);
  });
});

describe('of what the roles allow', () => {
  let service: TestService;
  const used = new Map<string, Set<string>>();
  const unusedBy = (source: string): string[] => {
    const all = single(permittedTo(source));
    const seldom =
      source === 'authorizer' ? {} : source === doorPath ? seldomByDoor : getFixture(source).seldom;
    return all.filter((action) => !used.get(source)?.has(action) && !(seldom && action in seldom));
  };
  beforeAll(async () => {
    service = await startService({
      onAccess: (source, access) => {
        const ofSource = used.get(source) ?? new Set();
        used.set(source, ofSource.add(shortName(service.stack, access)));
      },
    });
    const sender = overHttp(service);
    for (const source of sources.filter((source) => source !== 'authorizer'))
      for (const use of getUses(source))
        if (unusedBy(source).length > 0) await sender.send((await prepare(sender, use)).request);
  });
  afterAll(() => service.stop());

  it('nothing more was needed by any request', () => {
    const refusals = service.logged.filter((line) => line.startsWith('store: '));
    expect(refusals, refusals.map((line) => adviseOn(service.stack, line)).join('\n')).toEqual([]);
  });

  it.each(sources)('%s uses all, or the exception is explained', (source) => {
    const unused = unusedBy(source);
    const advice = [
      `No request of the fixture of ${source} makes its function do this: ${unused.join(', ')}.`,
      'Add a request that does to its `uses` in test/support/endpoints, say in its `seldom` why it is needed,',
      'or take the permission from api/access.ts and from `permitted`.',
    ].join('\n');
    expect(unused, advice).toEqual([]);
  });
});
