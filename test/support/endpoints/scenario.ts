import { createHash } from 'node:crypto';
import type { Answer, Sent } from '../service/in-process.ts';

/** One representative request to a route, and what it is sent into. */
export interface Scenario {
  readonly name: string;
  /** What is sent first, without faults, into a project that has nothing in it. */
  readonly before?: (project: string) => readonly Sent[];
  /** The request itself. @param answers to what was sent before */
  readonly request: (project: string, answers: readonly Answer[]) => Sent;
  /** Requests that show all that the request may change; none where it changes nothing. */
  readonly views?: (project: string) => readonly Sent[];
  /** Whether what it changes shows all at once or not at all, rather than record by record. */
  readonly atomic?: boolean;
  /**
   * Whether it is answered as if nothing had been, where storage fails for good: what it does there
   * is beside the answer.
   */
  readonly unharmed?: boolean;
}

/**
 * A request that uses permissions which no scenario of its route does. Faults and kills are not tried
 * with it, so there may be many.
 */
export type Use = Pick<Scenario, 'name' | 'before' | 'request'>;

/**
 * Text of so many characters that neither repeats itself nor compresses, the same for the same
 * seed.
 */
export const noise = (characters: number, seed = 'noise'): string => {
  const outputLength = Math.ceil((characters * 3) / 4);
  return createHash('shake256', { outputLength }).update(seed).digest('base64').slice(0, characters);
};

/** Above this many characters of noise a call's payload is an object in the bucket. */
export const forBucket = 200_000;

/** A start as a batch has it; all of a call in one thread and trace. */
export const start = (project: string, id: string, fields: object = {}) => ({
  mode: 'start',
  req: {
    start: {
      project_id: project,
      id,
      trace_id: 'trace',
      op_name: 'answer',
      thread_id: 'thread',
      turn_id: id,
      started_at: '2026-10-01T00:00:00Z',
      inputs: { q: `question ${id}` },
      ...fields,
    },
  },
});

/** An end as a batch has it. */
export const end = (project: string, id: string, fields: object = {}) => ({
  mode: 'end',
  req: {
    end: { project_id: project, id, ended_at: '2026-10-01T00:00:01Z', output: `answer ${id}`, ...fields },
  },
});

/** The request of a batch of starts and ends. */
export const report = (...batch: readonly object[]): Sent => ({
  path: '/call/upsert_batch',
  body: { batch },
});

/**
 * Starts and ends of so many calls, `0`, `1`, …, reported together, with payloads that make a
 * segment.
 */
export const calls = (project: string, count: number, fields: object = {}): object[] =>
  Array.from({ length: count }, (_, i) => [
    start(project, `${i}`, {
      started_at: `2026-10-01T00:00:${String(i % 60).padStart(2, '0')}Z`,
      inputs: { q: noise(600, `${i}`) },
      ...fields,
    }),
    end(project, `${i}`, {
      ended_at: '2026-10-01T00:02:00Z',
      summary: { usage: { 'gpt-4o': { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 } } },
    }),
  ]).flat();

/** Queries over all calls of a project: in order of time, by trace, by thread, and of threads. */
export const callViews = (project: string): Sent[] => [
  { path: '/calls/stream_query', body: { project_id: project } },
  { path: '/calls/stream_query', body: { project_id: project, filter: { trace_ids: ['trace', 'moved'] } } },
  { path: '/calls/stream_query', body: { project_id: project, filter: { thread_ids: ['thread'] } } },
];

/** Reads of calls by their ids. */
export const callReads = (project: string, ...ids: readonly string[]): Sent[] =>
  ids.map((id) => ({ path: '/call/read', body: { project_id: project, id } }));

/** Feedback on a call whose payload is in the bucket. */
export const largeNoteOn = (project: string, id: string): Sent => ({
  path: '/feedback/create',
  body: {
    project_id: project,
    id: `large on ${id}`,
    svc_ref: `svc:///${project}/call/${id}`,
    feedback_type: 'note',
    payload: { n: 1, text: noise(460_000) },
  },
});

/** A request that comes through Weave's door. */
export const throughDoor = (sent: Sent): Sent => {
  // Spans have a path of their own there, and log records none.
  if (sent.path === '/otel/v1/traces') return { ...sent, path: `/weave/agents${sent.path}` };
  return sent.path.startsWith('/otel/') ? sent : { ...sent, path: `/weave${sent.path}` };
};

/** The upload of a file, as a form. */
export const fileForm = (project: string, content: string): Sent => {
  const part = (name: string, text: string) =>
    `--boundary\r\ncontent-disposition: form-data; name=${name}\r\n\r\n${text}\r\n`;
  const parts = part('"project_id"', project) + part('"file"; filename="f"', content);
  return {
    path: '/file/create',
    body: Buffer.from(`${parts}--boundary--\r\n`),
    headers: { 'content-type': 'multipart/form-data; boundary=boundary' },
  };
};
