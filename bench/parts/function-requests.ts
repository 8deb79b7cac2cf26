/** Requests to the functions: small ones as on every day, and the largest possible. */
import { gzipSync } from 'node:zlib';
import { type Call, repeatCalls } from '../harness/calls.ts';
import { endOf, newestBy, startOf } from '../harness/reporting.ts';
import { exportOf } from '../harness/spans.ts';

/** A request to a route. */
export interface Probe {
  /** Its name in the figures. */
  readonly name: string;
  readonly path: string;
  /** Makes the body, with new ids for whatever it creates: bytes, or what is sent as JSON. */
  readonly body: () => object;
  /** Headers beside those that every request has. @default - JSON */
  readonly headers?: readonly (readonly [string, string])[];
  /** Whether it is one of the largest possible requests. */
  readonly large?: true;
}

/** The longest text whose request fits into an event of 6 MB, in characters. */
const maxCharacters = 4_900_000;

/** Text that is neither uniform nor noise. */
const longText = (): string => {
  let text = '';
  for (let i = 0; text.length < maxCharacters; i++) text += `${i} is ${Math.imul(i, 0x9e3779b1) >>> 0}; `;
  return text.slice(0, maxCharacters);
};

const batchOf = (calls: readonly Call[]): object => ({
  batch: calls.flatMap((call) => [startOf(call), endOf(call)]),
});

const protobuf = ['content-type', 'application/x-protobuf'] as const;

/** Exports of spans: as many as an SDK sends at once, and as much as may come unpacked. */
const spanProbes = (next: (count: number) => Call[]): readonly Probe[] => {
  const path = '/otel/v1/traces';
  const spans = (count: number) => exportOf(next(count), true);
  return [
    { path, name: '512 spans', headers: [protobuf], body: () => spans(512), large: true },
    {
      ...{ path, name: '4,000 spans, some 30 MB unpacked', large: true },
      headers: [protobuf, ['content-encoding', 'gzip']],
      body: () => gzipSync(spans(4000)),
    },
  ];
};

/** All probes. What a probe reads or removes was written by an earlier one. */
export const probesOf = (calls: readonly [Call, ...Call[]]): readonly Probe[] => {
  const [{ start: first }] = calls;
  const project_id = String(first.project_id);
  const fresh = repeatCalls(calls, Number.MAX_SAFE_INTEGER);
  /** The same calls again, in the order in which they were written. */
  const written = repeatCalls(calls, Number.MAX_SAFE_INTEGER);
  const next = (of: Iterator<Call>, count: number): Call[] =>
    Array.from({ length: count }, () => of.next().value as Call);
  let serial = 0;
  const newId = (): string => `probe-${serial++}`;
  const text = longText();
  const isLarge = { large: true } as const;

  // In a project of their own, so that the other queries stay small.
  const ofLarge = 'acme/large';
  let large: string;
  const largeCall = () => {
    large = newId();
    return { start: { ...first, project_id: ofLarge, id: large, inputs: { text } } };
  };
  const read = (body: object) => () => ({ project_id, ...body });
  const feedback = (callId: unknown) => ({
    ...{ project_id, feedback_type: 'reaction', payload: { score: 0.5 } },
    svc_ref: `svc:///${project_id}/call/${callId}`,
  });
  const thousand = () => ({
    batch: Array.from({ length: 1000 }, (_, i) => feedback(calls[i % calls.length]?.start.id)),
  });
  const object = (val: object, of: string) => () => ({ obj: { project_id: of, object_id: newId(), val } });
  const question = (content: string) => () => ({ model: 'gpt-4o', messages: [{ role: 'user', content }] });

  return [
    { path: '/call/upsert_batch', name: '100 calls', body: () => batchOf(next(fresh, 100)) },
    { path: '/call/upsert_batch', name: '600 calls', body: () => batchOf(next(fresh, 600)), ...isLarge },
    {
      path: '/call/upsert_batch',
      name: 'one call of 4.9 MB',
      body: () => ({ batch: [{ mode: 'start', req: largeCall() }] }),
      ...isLarge,
    },
    ...spanProbes((count) => next(fresh, count)),
    { path: '/call/start', name: 'a call', body: () => ({ start: { ...first, id: newId() } }) },
    { path: '/call/start', name: 'a call of 4.9 MB', body: largeCall, ...isLarge },
    { path: '/call/read', name: 'a call', body: read({ id: first.id }) },
    {
      path: '/call/read',
      name: 'a call of 4.9 MB',
      body: () => ({ project_id: ofLarge, id: large }),
      ...isLarge,
    },
    { path: '/calls/stream_query', name: 'newest 100', body: read(newestBy('started_at')) },
    { path: '/calls/stream_query', name: 'everything', body: read({}), ...isLarge },
    {
      path: '/calls/stream_query',
      name: '100 by a payload',
      body: read(newestBy('inputs.model')),
      ...isLarge,
    },
    { path: '/calls/query_stats', name: 'everything', body: read({}), ...isLarge },
    { path: '/threads/stream_query', name: 'everything', body: read({}), ...isLarge },
    { path: '/feedback/create', name: 'a record', body: () => feedback(first.id) },
    { path: '/feedback/batch/create', name: '1,000 records', body: thousand, ...isLarge },
    { path: '/feedback/query', name: 'newest 100', body: read(newestBy('created_at')) },
    { path: '/feedback/query', name: 'everything', body: read({}), ...isLarge },
    { path: '/obj/create', name: 'an object', body: object({ prompt: 'Be brief.' }, project_id) },
    { path: '/obj/create', name: 'an object of 4.9 MB', body: object({ text }, ofLarge), ...isLarge },
    { path: '/objs/query', name: 'everything', body: read({}) },
    { path: '/inference/v1/chat/completions', name: 'a question', body: question('How are you?') },
    {
      path: '/inference/v1/chat/completions',
      name: 'a question of 4.9 MB',
      body: question(text),
      ...isLarge,
    },
    {
      path: '/calls/delete',
      name: '500 calls',
      body: () => ({ project_id, call_ids: next(written, 500).map(({ start }) => start.id) }),
      ...isLarge,
    },
  ];
};
