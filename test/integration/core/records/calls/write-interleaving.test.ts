import { beforeAll, describe, expect, it } from 'vitest';
import { writeCalls } from '../../../../../core/records/calls/index.ts';
import { toPath } from '../../../../../foundations/expression/index.ts';
import { requestBudget, type Store } from '../../../../../foundations/storage/index.ts';
import type { ProjectId } from '../../../../../foundations/wire/index.ts';
import { intercepted, stopsAmong } from '../../../../support/faults/intercepted.ts';
import { deep, repeatWith, sample, seed } from '../../../../support/run/sampling.ts';
import {
  ask,
  createCallStore,
  makeEnd,
  makeStart,
  parseBatch,
  project,
  query,
  read,
} from '../../../../support/values/calls.ts';

/*
 * Two or three requests that report the same call at once, in every interleaving that matters. One
 * is stopped before each of its DynamoDB commands in turn, the others run to their ends, and it
 * goes on. Afterwards all views must show the same call, and one that the requests give in some
 * order.
 */

let store: Store;
beforeAll(async () => {
  store = await createCallStore();
});

/** The store, which waits before its command of the given number, from 0, until it is let go on. */
const stoppable = (at: number) => {
  const reached = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const commands: string[] = [];
  const stopped = intercepted(store, async (command, operation) => {
    commands.push(operation);
    if (command !== at) return;
    reached.resolve();
    await released.promise;
  });
  return {
    store: stopped,
    /** The operations of the commands so far. */
    commands,
    reached: reached.promise,
    goOn: released.resolve,
  };
};

/** What a payload rides in: its own item, or, since this does not compress, a segment. */
const small = 'small';
const large = Array.from({ length: 300 }, (_, i) => Math.sin(i)).join(' ');

const thread = { id: 'call', thread_id: 'h', turn_id: 'call' };
/**
 * The requests that may report the call. Each has versions that move it in time, to another trace
 * or parent, or in or out of its item.
 */
const requests = {
  'a start': [makeStart({ op_name: 's1', trace_id: 't1', inputs: { small }, ...thread })],
  'a moved start': [
    makeStart({
      op_name: 's2',
      trace_id: 't2',
      parent_id: 'parent',
      started_at: '2026-10-01T00:00:00.5Z',
      inputs: { large },
      ...thread,
    }),
  ],
  'an end': [makeEnd({ id: 'call', output: ['e1', small] })],
  'a large end': [makeEnd({ id: 'call', output: ['e2', large], exception: 'x' })],
  'a start and end': [
    makeStart({ op_name: 's3', trace_id: 't1', ...thread }),
    makeEnd({ id: 'call', output: ['e3', small] }),
  ],
  'a moved start and end': [
    makeStart({
      op_name: 's4',
      trace_id: 't2',
      started_at: '2026-10-01T00:00:00.7Z',
      inputs: { large },
      ...thread,
    }),
    makeEnd({ id: 'call', output: ['e4', large] }),
  ],
} as const;
type Request = keyof typeof requests;
const names = Object.keys(requests) as Request[];

const id = 'call';
let fresh = 0;
/** A project with nothing in it. */
const newProject = () => `acme/interleaved-${fresh++}` as ProjectId;

const report = async (to: Store, request: Request, into: ProjectId): Promise<void> => {
  const batch = JSON.stringify(requests[request]).replaceAll(project, into);
  await writeCalls(to, parseBatch(JSON.parse(batch)), 'ada', requestBudget(30_000));
};

/** The op name and the output's first item: which start and which end are in force. */
type Shown = readonly [start: string, end: string | null] | null;

/** What the requests make of a call one after the other. */
const inOrder = (order: readonly Request[]): Shown => {
  const records = order.flatMap((request) => requests[request].map(({ req }) => req));
  const start = records.findLast((record) => 'start' in record);
  const end = records.findLast((record) => 'end' in record);
  const output = end && (end.end as { output: [string] }).output[0];
  return start ? [(start.start as unknown as { op_name: string }).op_name, output ?? null] : null;
};

const shown = (call: Record<string, unknown> | null | undefined): Shown =>
  call ? [String(call.op_name), (call.output as [string] | null)?.[0] ?? null] : null;

/** The op name of the start that has a parent. */
const nested = 's2';

/** The output of the end that failed. */
const failed = 'e2';

/** The call as the list of errors shows it, and whether it is one. */
const errors = async (projectId: ProjectId, [, end]: NonNullable<Shown>): Promise<Shown[]> => {
  const [call, ...more] = await ask(store, {
    project_id: projectId,
    query: { $expr: { $eq: [{ $getField: 'summary.svc.status' }, { $literal: 'error' }] } },
  });
  expect(more).toEqual([]);
  expect(call !== undefined).toBe(end === failed);
  return call ? [shown(call)] : [];
};

/** The call as each view shows it; one that shows it twice fails. */
const views = async (projectId: ProjectId): Promise<Shown[]> => {
  const stored = shown(await read(store, id, projectId));
  const filters = [
    { callIds: [id] },
    {},
    { traceIds: ['t1', 't2'] },
    { threadIds: ['h'] },
    { turnIds: [id] },
    stored?.[0] === nested ? { parentIds: ['parent'] } : { traceRootsOnly: true },
  ];
  const found = await Promise.all(
    filters.map(async (filter) => {
      const calls = await query(store, { projectId, filter });
      expect(calls.length).toBeLessThan(2);
      return shown(calls[0]);
    }),
  );
  return [stored, ...found, ...(stored ? await errors(projectId, stored) : [])];
};

/**
 * Runs requests of which one is stopped.
 *
 * @returns whether it reached the command before which it should stop, and the operations of its
 * commands
 */
const interleave = async (
  projectId: ProjectId,
  before: readonly Request[],
  stopped: Request,
  others: readonly Request[],
  at: number,
) => {
  for (const request of before) await report(store, request, projectId);
  const gate = stoppable(at);
  const under = report(gate.store, stopped, projectId);
  const isStopped = await Promise.race([gate.reached.then(() => true), under.then(() => false)]);
  for (const request of others) await report(store, request, projectId);
  gate.goOn();
  await under;
  return { isStopped, commands: gate.commands };
};

/**
 * Every order in which the stopped request can be thought to come between, before or after the
 * others.
 */
const orders = (before: readonly Request[], stopped: Request, others: readonly Request[]): Shown[] =>
  Array.from({ length: others.length + 1 }, (_, i) =>
    inOrder([...before, ...others.slice(0, i), stopped, ...others.slice(i)]),
  );

const checkAt = async (
  before: readonly Request[],
  stopped: Request,
  others: readonly Request[],
  at: number,
) => {
  const projectId = newProject();
  const result = await interleave(projectId, before, stopped, others, at);
  const [first, ...rest] = await views(projectId);
  const where = `${repeatWith}: ${stopped}, stopped before command ${at}`;
  for (const view of rest) expect(view, where).toEqual(first);
  expect(orders(before, stopped, others), where).toContainEqual(first);
  return result;
};

/** The kinds of commands that each request has been stopped before. */
const taken = new Map(names.map((name) => [name, new Set<string>()]));

/**
 * Stops a request before each of its commands; in an ordinary run before one of each kind, over all
 * tests, and at least one.
 */
const check = async (
  before: readonly Request[],
  stopped: Request,
  others: readonly Request[],
): Promise<void> => {
  if (deep) {
    for (let at = 0; (await checkAt(before, stopped, others, at)).isStopped; at++);
    return;
  }
  const { commands } = await checkAt(before, stopped, others, Number.POSITIVE_INFINITY);
  const name = [before, stopped, others].flat().join();
  for (const at of stopsAmong(commands, name, taken.get(stopped))) await checkAt(before, stopped, others, at);
};

const befores: readonly { readonly before: readonly Request[] }[] = [
  { before: [] },
  { before: ['a start'] },
  { before: ['an end'] },
  { before: ['a start and end'] },
  { before: ['a start', 'a large end'] },
  { before: ['a large end'] },
];

/** The pairs of requests that have been interleaved. */
const interleavedPairs = new Set<string>();

/**
 * The requests that come meanwhile: one by turns, in a deep run all. All befores together have each
 * request come while each other is stopped.
 */
const meanwhile = (nthBefore: number, stopped: Request): readonly Request[] => {
  const turn = names[(nthBefore + names.indexOf(stopped) + seed) % names.length];
  return deep || turn === undefined ? names : [turn];
};

describe.each(befores)('after $before', ({ before }) => {
  const nthBefore = befores.findIndex((other) => other.before === before);

  it.each(names)('%s is atomic with any other request that comes meanwhile', async (stopped) => {
    for (const other of meanwhile(nthBefore, stopped)) {
      await check(before, stopped, [other]);
      interleavedPairs.add(`${stopped}, ${other}`);
    }
  });
});

describe('all of these requests', () => {
  it('have each been stopped while each came', () => {
    expect(interleavedPairs.size).toBe(names.length ** 2);
  });
});

/** Requests that have shown something between two others, of which an ordinary run tries some. */
const threes: readonly {
  readonly before: readonly Request[];
  readonly stopped: Request;
  readonly others: readonly Request[];
}[] = [
  { before: ['a start'], stopped: 'a moved start and end', others: ['an end'] },
  { before: ['a start and end'], stopped: 'a large end', others: ['a moved start and end'] },
  { before: ['a start'], stopped: 'a start and end', others: ['an end', 'a moved start and end'] },
  { before: [], stopped: 'a large end', others: ['a start and end', 'an end'] },
  { before: ['a start and end'], stopped: 'an end', others: ['a moved start', 'a large end'] },
  { before: ['a start and end'], stopped: 'a moved start', others: ['an end', 'a start and end'] },
  { before: ['a start', 'a large end'], stopped: 'a large end', others: ['a start and end', 'an end'] },
  { before: ['a large end'], stopped: 'an end', others: ['a start and end', 'a large end'] },
  { before: ['a start and end'], stopped: 'a moved start', others: ['a large end', 'an end'] },
];

describe('of three requests', () => {
  it.each(sample(threes, 5, 'three requests'))(
    '$stopped is atomic with $others after $before',
    async ({ before, stopped, others }) => {
      await check(before, stopped, others);
    },
  );
});

describe('a start without a trace', () => {
  it('has one trace, which every answer names, however often it is sent at once', async () => {
    for (const [i, batch] of [
      [makeStart({ id: 'lone' })],
      [makeStart({ id: 'child', parent_id: 'unknown' }), makeEnd({ id: 'child' })],
      [makeStart({ id: 'root' }), makeStart({ id: 'leaf', parent_id: 'root' })],
    ].entries()) {
      const reports = JSON.stringify(batch).replaceAll(/"(lone|child|root|leaf)"/g, `"$1-${i}"`);
      const answers = await Promise.all(
        Array.from({ length: 4 }, () =>
          writeCalls(store, parseBatch(JSON.parse(reports)), 'ada', requestBudget(30_000)),
        ),
      );
      const [first] = answers;
      for (const answer of answers) expect(answer).toEqual(first);
      for (const answer of first ?? [])
        if (answer) expect((await read(store, answer.id))?.trace_id).toBe(answer.traceId);
    }
  });

  it.each([
    ['by itself', false],
    ['with its end', true],
  ])('keeps the trace that another request named meanwhile, sent %s', async (_, ended) => {
    for (let at = 0; at < 4; at++) {
      const id = `call-${fresh++}`;
      const gate = stoppable(at);
      const batch = [makeStart({ id, op_name: 'late' }), ...(ended ? [makeEnd({ id })] : [])];
      const late = writeCalls(gate.store, parseBatch(batch), 'ada', requestBudget(30_000));
      await Promise.race([gate.reached, late]);
      await writeCalls(
        store,
        parseBatch([makeStart({ id, trace_id: `named-${id}` })]),
        'ada',
        requestBudget(30_000),
      );
      gate.goOn();
      const [answer] = await late;
      const call = await read(store, id);
      // Where the late one was there first, the other replaced it, and its trace with it.
      if (call?.op_name === 'late') expect(answer?.traceId).toBe(call.trace_id);
      expect(call?.trace_id).toBe(`named-${id}`);
      expect(await query(store, { filter: { traceIds: [`named-${id}`] } })).toHaveLength(1);
    }
  });
});

describe('a query during which a call is reported again', () => {
  const send = async (fields: object): Promise<void> => {
    await writeCalls(store, parseBatch([makeStart(fields)]), 'ada', requestBudget(30_000));
  };

  const orders = [[], [{ path: toPath('inputs.n'), descending: true }]];

  it.each([
    ['does not answer what its filter does not let through', { op_name: 'other' }],
    ['answers once what is moved, forwards', { started_at: '2026-10-01T00:09:00Z' }],
    ['answers once what is moved, backwards', { started_at: '2026-10-01T00:00:01Z' }],
    ['answers what stays in its place', { inputs: { n: 2 } }],
  ])('%s', async (name, change) => {
    for (const sort of sample(orders, 1, name))
      for (let at = 0, isStopped = true; isStopped; at++) {
        const projectId = newProject();
        // Each by itself, so that its payload rides in its item and is read together with it.
        const calls = ['00:01:00', '00:02:00', '00:03:00'].map((time, i) => ({
          project_id: projectId,
          id: `${i}`,
          trace_id: 't',
          op_name: 'wanted',
          started_at: `2026-10-01T${time}Z`,
        }));
        for (const call of calls) await send(call);
        const gate = stoppable(at);
        const under = query(gate.store, { projectId, sort, filter: { opNames: ['wanted'] } });
        isStopped = await Promise.race([gate.reached.then(() => true), under.then(() => false)]);
        await send({ ...calls[1], ...change });
        gate.goOn();
        const answer = await under;
        expect(answer.map((call) => call.op_name)).toEqual(answer.map(() => 'wanted'));
        const ids = answer.map((call) => String(call.id)).sort();
        if ('op_name' in change)
          expect([
            ['0', '2'],
            ['0', '1', '2'],
          ]).toContainEqual(ids);
        else expect(ids).toEqual(['0', '1', '2']);
      }
  });
});
