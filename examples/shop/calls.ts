import { randomUUID } from 'node:crypto';

/** A call as the demo reports it: its start, and its end unless it still runs. */
export interface DemoCall {
  readonly id: string;
  readonly trace: string;
  readonly parent: string | null;
  readonly thread: string;
  readonly turn: string;
  readonly op: string;
  /** In ms since 1970. */
  readonly start: number;
  /** In ms; null while it runs. */
  readonly ms: number | null;
  readonly attributes: object;
  readonly inputs: object;
  readonly output?: unknown;
  readonly exception?: string;
  readonly summary?: object;
}

/** Times with microseconds, so that calls of the same millisecond have an order. */
const timeOf = (ms: number, order: number): string =>
  `${new Date(ms).toISOString().slice(0, -1)}${String(order % 1000).padStart(3, '0')}Z`;

/** The reports of a call, as `POST /call/upsert_batch` takes them. */
export const reportsOf = (project: string, call: DemoCall, order: number): object[] => {
  const { id, trace, parent, thread, turn, op, start, ms, attributes, inputs } = call;
  const begun = {
    project_id: project,
    id,
    op_name: op,
    trace_id: trace,
    parent_id: parent,
    thread_id: thread,
    turn_id: turn,
    started_at: timeOf(start, order),
    attributes,
    inputs,
  };
  const { output = null, exception = null, summary = {} } = call;
  const ended = {
    project_id: project,
    id,
    ended_at: timeOf(start + (ms ?? 0), order),
    output,
    exception,
    summary,
  };
  const end = ms === null ? [] : [{ mode: 'end', req: { end: ended } }];
  return [{ mode: 'start', req: { start: begun } }, ...end];
};

/** Numbers from 0 to 1 that look random, the same for every run (mulberry32). */
export const randomOf = (seed: number): (() => number) => {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
};

/** About four characters are a token. */
export const tokensIn = (value: unknown): number => JSON.stringify(value).length >> 2;

/** What a model used, as its call reports it. */
export const usageOf = (model: string, prompt: number, completion: number): object => ({
  usage: {
    [model]: {
      requests: 1,
      prompt_tokens: prompt,
      completion_tokens: completion,
      total_tokens: prompt + completion,
    },
  },
});

export const newId = (): string => randomUUID();
