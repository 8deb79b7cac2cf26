import fc from 'fast-check';
import {
  type JsonObject,
  type JsonValue,
  type Micros,
  parseTime,
} from '../../../../foundations/wire/index.ts';
import { type KnownCall, knownCall } from '../../reference/index.ts';
import { makeEnd, makeStart } from '../calls.ts';
import { number, object, timeTexts, value } from './values.ts';

/**
 * A call as clients report it: its records without a project, and in which of three requests each
 * is sent. One without a start is never seen.
 */
export interface ReportedCall {
  readonly id: string;
  readonly start: { readonly record: JsonObject; readonly request: number } | null;
  readonly end: { readonly record: JsonObject; readonly request: number } | null;
}

const requests = [0, 1, 2] as const;
const request = fc.constantFrom(...requests);

/**
 * Names of ops: plain ones, and versions of two ops of which one's name begins with the other's.
 */
const opNames = [
  'op',
  'chat:1',
  '😀',
  ...['chat:v1', 'chat:v2', 'chat2:v1'].map((op) => `svc:///acme/shop/op/${op}`),
];

const counts = fc.record({ total_tokens: fc.nat(20), prompt_tokens: number }, { requiredKeys: [] });
const usage: fc.Arbitrary<JsonValue> = fc.oneof(
  { arbitrary: fc.dictionary(fc.constantFrom('gpt-4.1', 'gpt-4', 'gpt-4o', '__proto__'), counts), weight: 4 },
  // Longer than what rides along with a header.
  { arbitrary: fc.constant({ 'gpt-4.1': { total_tokens: 7, note: 'x'.repeat(300) } }), weight: 1 },
  { arbitrary: value, weight: 1 },
);

const summary = fc
  .tuple(
    object,
    fc.record(
      {
        usage,
        // A path through the usage may lead here too.
        'usage.gpt-4': counts,
        status_counts: fc.oneof(fc.record({ error: fc.integer({ min: -1, max: 1 }) }), fc.constant(null)),
        svc: fc.record({ status: fc.constant('mine') }),
      },
      { requiredKeys: [] },
    ),
  )
  .map(([own, known]): JsonObject => ({ ...own, ...(known as JsonObject) }));

/** Midnight, so that times without seconds and fractions can be told from those with them. */
const midnight = parseTime('2026-10-01T00:00:00Z') ?? 0;
const startedAt = fc
  .constantFrom(0, 1, 2, 250_000, 1_000_000, 60_000_000, 3_600_000_000, -1)
  .map((after) => midnight + after);
const duration = fc.constantFrom(0, 1, 499, 500, 1500, 1_000_000, 61_000_000, -1000);

const written = (time: Micros): fc.Arbitrary<string> => fc.constantFrom(...timeTexts(time));

const id = fc.oneof(
  fc.constantFrom('a', 'A', 'b', 'a.b', '\uffff', '😀', '😀b', 'é'),
  fc.uuid(),
  fc.stringMatching(/^[a-c]{1,3}$/),
);

/** How a call hangs together with those before it, by their place in the list. */
const relations = fc.record({
  trace: fc.constantFrom('t1', 't2', 't3'),
  parent: fc.oneof(fc.constantFrom(null, null, 'gone'), fc.nat(20)),
  thread: fc.constantFrom(null, null, 'h1', 'h1', 'h2', '😀'),
  turn: fc.oneof(fc.constantFrom(null, 'self', 'self', 'gone'), fc.nat(20)),
});

interface Placed {
  readonly id: string;
  readonly trace_id: string;
  readonly parent_id: string | null;
  readonly thread_id: string | null;
  readonly turn_id: string | null;
}

type Relations = typeof relations extends fc.Arbitrary<infer T> ? T : never;

/**
 * Gives calls their ids and relations, as tracing libraries have them. A child is in its parent's
 * trace, a call in its turn's thread or else trace.
 */
const place = (calls: readonly (readonly [string, Relations])[]): Placed[] => {
  const placed: Placed[] = [];
  for (const [id, { trace, parent, thread, turn }] of calls) {
    const earlier = (at: number): Placed | undefined => placed[at % Math.max(1, placed.length)];
    const parentCall = typeof parent === 'number' ? earlier(parent) : undefined;
    const turnCall = typeof turn === 'number' ? earlier(turn) : undefined;
    const trace_id = parentCall?.trace_id ?? trace;
    const thread_id = turnCall ? turnCall.thread_id : thread;
    const belongs = turnCall && (turnCall.thread_id !== null || turnCall.trace_id === trace_id);
    placed.push({
      id,
      trace_id,
      parent_id: typeof parent === 'number' ? (parentCall?.id ?? null) : parent,
      thread_id,
      turn_id: typeof turn === 'number' ? (belongs ? turnCall.id : null) : turn === 'self' ? id : turn,
    });
  }
  return placed;
};

const nullable = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | null> =>
  fc.option(arbitrary, { nil: null });

/** Attributes, with those that headers hold: mostly texts, here and there anything. */
const attributes = fc
  .tuple(
    object,
    fc.record(
      {
        user: fc.oneof(fc.record({ id: value }, { requiredKeys: [] }), value),
        'user.id': fc.oneof(fc.constantFrom('u1', 'u2', 'u'.repeat(129)), value),
        kind: fc.oneof(fc.constantFrom('model', 'tool', 'Tool'), value),
        environment: fc.oneof(fc.constantFrom('production', 'eu', null), value),
        release: fc.oneof(fc.constantFrom('1.0', '1.1'), value),
      },
      { requiredKeys: [] },
    ),
  )
  .map(([others, held]): JsonObject => ({ ...others, ...held }));

/** The fields of a start that its relations leave open; those left out take their defaults. */
const startRecord = (time: Micros) =>
  fc.record(
    {
      op_name: fc.constantFrom(...opNames),
      started_at: written(time),
      display_name: nullable(fc.constantFrom('Ada', 'ada', '😀')),
      attributes: fc.oneof(attributes, object),
      inputs: object,
      svc_run_id: nullable(fc.constantFrom('run-1', 'run-2')),
      svc_run_step: nullable(fc.integer({ min: -1, max: 11 })),
    },
    { requiredKeys: ['op_name', 'started_at'] },
  );

const endRecord = (time: Micros) =>
  fc.record(
    {
      ended_at: written(time),
      output: value,
      exception: nullable(fc.constantFrom('boom', 'Boom: 😀')),
      summary,
      svc_run_step_end: nullable(fc.integer({ min: -1, max: 11 })),
    },
    { requiredKeys: ['ended_at'] },
  );

const oneCall = startedAt.chain((time) =>
  fc.record({
    relations,
    start: fc.option(startRecord(time), { nil: null, freq: 15 }),
    startRequest: request,
    end: fc.option(
      duration.chain((after) => endRecord(time + after)),
      { nil: null, freq: 6 },
    ),
    endRequest: request,
  }),
);

/**
 * Small projects: 4 to 20 calls in a few traces, threads and runs, some running, some never
 * started, reported together, apart or ends first.
 */
export const reportedCalls: fc.Arbitrary<ReportedCall[]> = fc
  .uniqueArray(fc.tuple(id, oneCall), { minLength: 4, maxLength: 20, size: 'max', selector: ([own]) => own })
  .map((calls) => {
    const placed = place(calls.map(([own, call]) => [own, call.relations]));
    return calls.map(([own, call], i) => ({
      id: own,
      start: call.start && {
        record: { ...placed[i], ...call.start } as JsonObject,
        request: call.startRequest,
      },
      end: call.end && { record: { id: own, ...call.end } as JsonObject, request: call.endRequest },
    }));
  });

/** The batches in which a project's calls are reported, one after the other; none is empty. */
export const toBatches = (projectId: string, calls: readonly ReportedCall[]): object[][] =>
  requests
    .map((number) =>
      calls.flatMap(({ start, end }) => [
        ...(start?.request === number ? [makeStart({ ...start.record, project_id: projectId })] : []),
        ...(end?.request === number ? [makeEnd({ ...end.record, project_id: projectId })] : []),
      ]),
    )
    .filter((batch) => batch.length > 0);

/** What the service knows once everything is reported: the calls that have a start. */
export const knownCalls = (projectId: string, calls: readonly ReportedCall[]): KnownCall[] =>
  calls.flatMap(({ start, end }) =>
    start
      ? [
          knownCall(
            makeStart({ ...start.record, project_id: projectId }).req.start as JsonObject,
            end && (makeEnd({ ...end.record, project_id: projectId }).req.end as JsonObject),
            'ada',
          ),
        ]
      : [],
  );
