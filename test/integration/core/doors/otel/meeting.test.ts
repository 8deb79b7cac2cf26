import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { storeSpans } from '../../../../../core/doors/otel/index.ts';
import type { AttributeValue } from '../../../../../core/doors/otel/span.ts';
import { toCallId } from '../../../../../core/doors/otel/span.ts';
import { deleteCalls, leaveSpans, readLeftSpans } from '../../../../../core/records/calls/index.ts';
import { requestBudget, type Store } from '../../../../../foundations/storage/index.ts';
import type { JsonObject, ProjectId } from '../../../../../foundations/wire/index.ts';
import { intercepted } from '../../../../support/faults/intercepted.ts';
import { makeSpan } from '../../../../support/otel/spans.ts';
import { runs, sample } from '../../../../support/run/sampling.ts';
import { ask, createCallStore } from '../../../../support/values/calls.ts';
import { createFeedbackStore } from '../../../../support/values/feedback.ts';

let store: Store;
let feedback: Store;
beforeAll(async () => {
  store = await createCallStore();
  feedback = await createFeedbackStore();
});

let projects = 0;
const newProject = (): ProjectId => `acme/meeting-${projects++}` as ProjectId;

const traceId = '0000000000000000000000000000000a';
const hex = (number: number): string => number.toString(16).padStart(16, '0');
const makeId = (number: number): string => toCallId(traceId, hex(number));

/** Messages, so that nobody looks for them among log records. */
const messages = { 'gen_ai.input.messages': '[{"role":"user","content":"hi"}]' };

/** What a span stands for, by its attributes. */
const roles = {
  agent: { 'gen_ai.operation.name': 'invoke_agent', ...messages },
  workflow: { 'gen_ai.operation.name': 'invoke_workflow', ...messages },
  model: { 'gen_ai.operation.name': 'chat', ...messages },
  server: { 'http.route': '/chat' },
} as const;

interface Made {
  readonly number: number;
  /** The number of its parent. Null for a root. */
  readonly parent: number | null;
  readonly role: keyof typeof roles;
  readonly thread?: string | null;
  readonly user?: string | null;
  /** Whether its parent is a span of another process. @default false */
  readonly isRemote?: boolean;
}

const received = (projectId: ProjectId, { number, parent, role, thread, user, isRemote = false }: Made) => {
  const attributes: Record<string, AttributeValue> = {
    ...roles[role],
    ...(thread && { 'session.id': thread }),
    ...(user && { 'user.id': user }),
  };
  const parentSpanId = parent === null ? {} : { parentSpanId: hex(parent) };
  return {
    projectId,
    hasRemoteParent: isRemote,
    pauses: false,
    span: makeSpan({ name: `${role} ${number}`, spanId: hex(number), attributes, ...parentSpanId }),
  };
};

/** Sends the spans of a request, and says what it took. */
const send = async (projectId: ProjectId, spans: readonly Made[], to = store) => {
  const budget = requestBudget(30_000);
  await storeSpans(
    { calls: to, feedback },
    spans.map((span) => received(projectId, span)),
    'ada',
    budget,
  );
  return budget;
};

const readCalls = (project_id: ProjectId, filter: object = {}): Promise<JsonObject[]> =>
  ask(store, { project_id, filter, sort_by: [{ field: 'id', direction: 'asc' }] });

const withoutProject = (calls: readonly JsonObject[]): JsonObject[] =>
  calls.map(({ project_id: _, ...call }) => call);

/** The thread, turn and user of each call, by the number of its span. */
const placesIn = async (project: ProjectId): Promise<Record<number, unknown>> =>
  Object.fromEntries(
    (await readCalls(project)).map(({ id, thread_id, turn_id, attributes }) => {
      const { user } = attributes as { user?: { id: string } };
      const turn = turn_id === null ? null : Number.parseInt(String(turn_id).slice(16), 16);
      return [Number.parseInt(String(id).slice(16), 16), [thread_id, turn, user?.id ?? null]];
    }),
  );

const maxSpans = 7;

/** Spans of a trace: one root, or parents that never come. */
const anyTrace: fc.Arbitrary<Made[]> = fc
  .array(
    fc.record({
      parent: fc.nat(maxSpans),
      role: fc.constantFrom(...(Object.keys(roles) as (keyof typeof roles)[])),
      thread: fc.constantFrom('s', 't', null, null),
      user: fc.constantFrom('ada', 'ben', null, null),
    }),
    { minLength: 1, maxLength: maxSpans },
  )
  .map((spans) =>
    spans.map(({ parent, ...span }, i) => ({
      ...span,
      number: i + 1,
      parent: i === 0 ? (parent === maxSpans ? 99 : null) : (parent % i) + 1,
    })),
  );

/** In which requests the spans of a trace come, and in which order. */
const anySplit = fc.record({
  requests: fc.array(fc.nat(3), { minLength: maxSpans, maxLength: maxSpans }),
  order: fc.shuffledSubarray([0, 1, 2, 3], { minLength: 4 }),
  atOnce: fc.boolean(),
  again: fc.nat(3),
});

describe('the spans of a trace', () => {
  it('meet nobody if a request has more of them than one item holds', async () => {
    const trace = { projectId: newProject(), traceId };
    const span = {
      isRun: false,
      isPlain: true,
      hasRemoteParent: false,
      pauses: false,
      threadId: null,
      givenUser: null,
    };
    const spans = Array.from({ length: 30_000 }, () => ({
      id: randomUUID(),
      parentId: randomUUID(),
      span,
      userId: null,
    }));
    expect(await leaveSpans(store, trace, spans, requestBudget(20_000))).toBe(false);
    expect(await readLeftSpans(store, trace, requestBudget(20_000))).toEqual(new Map());
    expect(await leaveSpans(store, trace, spans.slice(0, 100), requestBudget(20_000))).toBe(true);
  });

  it('give the same calls, however they come in requests', async () => {
    await fc.assert(
      fc.asyncProperty(anyTrace, anySplit, async (spans, { requests, order, atOnce, again }) => {
        const whole = newProject();
        const split = newProject();
        await send(whole, spans);
        const parts = order
          .map((request) => spans.filter((_, i) => requests[i] === request))
          .filter(({ length }) => length > 0);
        if (atOnce) await Promise.all(parts.map((part) => send(split, part)));
        else for (const part of parts) await send(split, part);
        const expected = withoutProject(await readCalls(whole));
        expect(withoutProject(await readCalls(split))).toEqual(expected);
        await send(split, parts[again % parts.length] ?? []);
        expect(withoutProject(await readCalls(split))).toEqual(expected);
        for (const thread_ids of [['s'], ['t']])
          expect(withoutProject(await readCalls(split, { thread_ids }))).toEqual(
            expected.filter(({ thread_id }) => thread_ids.includes(String(thread_id))),
          );
        const ofAda = { $eq: [{ $getField: 'attributes.user.id' }, { $literal: 'ada' }] };
        const found = await ask(store, { project_id: split, query: { $expr: ofAda } });
        expect(found.map(({ id }) => id).sort()).toEqual(
          expected
            .filter(({ attributes: a }) => (a as { user?: { id: string } }).user?.id === 'ada')
            .map(({ id }) => id)
            .sort(),
        );
      }),
      { numRuns: runs(60, 600) },
    );
  });

  const root: Made = { number: 1, parent: null, role: 'agent', thread: 't', user: 'ada' };
  const model: Made = { number: 2, parent: 1, role: 'model' };
  const tool: Made = { number: 3, parent: 1, role: 'server' };
  const inTurn = ['t', 1, 'ada'];

  it('lose the thread of their run when another agent in it turns out to be in a thread of its own', async () => {
    const project = newProject();
    const agent = (number: number, thread: string | null): Made => ({
      number,
      parent: 1,
      role: 'agent',
      thread,
    });
    await send(project, [{ number: 1, parent: null, role: 'agent' }, agent(2, 't')]);
    await send(project, [agent(3, null)]);
    expect(await placesIn(project)).toEqual({ 1: ['t', 1, null], 2: ['t', 1, null], 3: ['t', 1, null] });
    await send(project, [agent(4, 's')]);
    expect(await placesIn(project)).toEqual({
      1: [null, null, null],
      2: ['t', 2, null],
      3: [null, null, null],
      4: ['s', 4, null],
    });
  });

  it('have the thread, turn and user of a root that comes after them, and of one that came before', async () => {
    const before = newProject();
    const after = newProject();
    await send(before, [model]);
    expect(await placesIn(before)).toEqual({ 2: [null, null, null] });
    await send(before, [root]);
    await send(before, [tool]);
    await send(after, [root]);
    await send(after, [model, tool]);
    for (const project of [before, after])
      expect(await placesIn(project)).toEqual({ 1: inTurn, 2: inTurn, 3: inTurn });
  });

  it('that come at once are where they belong, wherever one of the requests stops', async () => {
    const count = async (spans: Made[]) => {
      let commands = 0;
      await send(
        newProject(),
        spans,
        intercepted(store, (command) => {
          commands = command + 1;
        }),
      );
      return commands;
    };
    const requests = [[model, tool], [root]];
    for (const [first, second] of [requests, requests.toReversed()]) {
      // A request that meets others makes more commands than one that is alone.
      const stops = Array.from({ length: (await count(first ?? [])) + 6 }, (_, i) => i);
      for (const stop of sample(stops, 12, 'stops')) {
        const project = newProject();
        let others: Promise<unknown> | undefined;
        const stopped = intercepted(store, async (command) => {
          if (command !== stop) return;
          others = send(project, second ?? []);
          await others;
        });
        await send(project, first ?? [], stopped);
        await (others ?? send(project, second ?? []));
        expect([stop, await placesIn(project)]).toEqual([stop, { 1: inTurn, 2: inTurn, 3: inTurn }]);
      }
    }
  });

  it('below a span of another process are of its turn, in whatever request they come', async () => {
    const project = newProject();
    const served: Made = { number: 4, parent: 99, role: 'agent', thread: 't', isRemote: true };
    await send(project, [served, { ...model, parent: 5 }]);
    await send(project, [{ ...tool, number: 5, parent: 4 }]);
    expect(await placesIn(project)).toEqual({ 2: ['t', 4, null], 4: ['t', 4, null], 5: ['t', 4, null] });
  });

  it('that come again are not written again', async () => {
    const project = newProject();
    for (const part of [[model], [tool], [root]]) await send(project, part);
    const written: string[] = [];
    const watched = intercepted(store, (_, operation, input) => {
      if (operation === 'PutItemCommand') written.push(JSON.stringify(input));
    });
    for (const part of [[model], [tool], [root]]) await send(project, part, watched);
    expect(written).toEqual([]);
  });

  it('leave nothing behind when the calls are deleted', async () => {
    const project = newProject();
    for (const part of [[model], [tool], [root]]) await send(project, part);
    await deleteCalls(store, project, [makeId(1)], requestBudget(30_000));
    expect(await readCalls(project)).toEqual([]);
    // What was left of the trace is gone, too: nobody knows the thread any more.
    await send(project, [model]);
    expect(await placesIn(project)).toEqual({ 2: [null, null, null] });
  });
});

describe('units', () => {
  const units = async (project: ProjectId, ...spans: Made[]) => {
    const { meter } = await send(project, spans);
    return [meter.readUnits, meter.writeUnits];
  };
  const root: Made = { number: 1, parent: null, role: 'agent', thread: 't', user: 'ada' };
  const model = (number: number): Made => ({ number, parent: 1, role: 'model' });

  it('of a trace that comes in one request are those of its calls', async () => {
    expect(await units(newProject(), root, model(2))).toEqual([0, 9]);
  });

  it('of a trace whose root has its parent in another process are those of its calls', async () => {
    const served: Made = { ...root, parent: 99, isRemote: true };
    expect(await units(newProject(), served, model(2))).toEqual([0, 9]);
  });

  it('of a trace that comes in several are those of the documents', async () => {
    const project = newProject();
    // Three for the call, one for what is left of it, and one for the flag that its parent is awaited.
    expect(await units(project, model(2))).toEqual([3, 5]);
    expect(await units(project, model(3))).toEqual([3, 4]);
    // Four for the root and one for what is left of it, and four for each call that gets its thread.
    expect(await units(project, root)).toEqual([5, 14]);
    // It finds what was left: four for the call, and one for what is left of it.
    expect(await units(project, model(4))).toEqual([2, 5]);
    // Nobody was awaited, so nothing was left. The root is read by its id, and the others in the index.
    const whole = newProject();
    await units(whole, root, model(2));
    expect(await units(whole, model(3))).toEqual([3.5, 5]);
  });
});
