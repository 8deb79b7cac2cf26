import { key, url } from './visit.ts';

/** What a test says of a call; the rest is made up. */
export interface SeededCall {
  readonly id: string;
  /** @default - the call's id */
  readonly trace?: string;
  readonly parent?: string;
  readonly op?: string;
  readonly name?: string;
  readonly thread?: string;
  /** @default - the call itself, if it has a thread */
  readonly turn?: string;
  /** Milliseconds after the beginning of the test's time. @default 0 */
  readonly at?: number;
  /** In milliseconds; null for a call that still runs. @default 100 */
  readonly ms?: number | null;
  readonly attributes?: object;
  readonly inputs?: object;
  readonly output?: unknown;
  readonly exception?: string;
  readonly summary?: object;
}

/** When the calls of tests begin. */
const beginning = Date.parse('2026-10-01T12:00:00Z');

/** What `at` is for a call that begins now, for what looks back from today. */
export const atPresent = (): number => Date.now() - beginning;

const timeAt = (ms: number): string => new Date(beginning + ms).toISOString();

const toReports = (project: string, call: SeededCall) => {
  const { id, trace = id, at = 0, ms = 100, op = 'agent.turn' } = call;
  const start = {
    project_id: project,
    id,
    trace_id: trace,
    op_name: op,
    started_at: timeAt(at),
    parent_id: call.parent ?? null,
    display_name: call.name ?? null,
    thread_id: call.thread ?? null,
    turn_id: call.turn ?? (call.thread === undefined ? null : id),
    attributes: call.attributes ?? {},
    inputs: call.inputs ?? {},
  };
  const end = {
    project_id: project,
    id,
    ended_at: timeAt(at + (ms ?? 0)),
    output: call.output ?? null,
    exception: call.exception ?? null,
    summary: call.summary ?? {},
  };
  return [{ mode: 'start', req: { start } }, ...(ms === null ? [] : [{ mode: 'end', req: { end } }])];
};

/** POSTs to the service. */
export const post = async (path: string, body: unknown): Promise<unknown> => {
  const answer = await fetch(url + path, {
    method: 'POST',
    headers: {
      authorization: `Basic ${Buffer.from(`api:${key}`).toString('base64')}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  return answer.json();
};

/** Reports calls to a project of the test's own. */
export const report = async (project: string, calls: readonly SeededCall[]): Promise<void> => {
  await post('/call/upsert_batch', { batch: calls.flatMap((call) => toReports(project, call)) });
};

/** A model call in the shape of OpenAI's chat. */
export const chat = (
  messages: readonly object[],
  answer: object,
): Pick<SeededCall, 'inputs' | 'output' | 'summary'> => ({
  inputs: { model: 'gpt-4o-mini', messages },
  output: { choices: [{ message: { role: 'assistant', ...answer } }] },
  summary: {
    usage: { 'gpt-4o-mini': { requests: 1, prompt_tokens: 120, completion_tokens: 30, total_tokens: 150 } },
  },
});

/** A conversation's turn with two model calls, a tool that failed, and an answer. */
export const turn = (trace: string, at: number): SeededCall[] => {
  const system = { role: 'system', content: 'You are the support of a shop.' };
  const question = { role: 'user', content: 'Where is my order 4711?' };
  const asked = {
    content: null,
    tool_calls: [
      { id: 'c1', type: 'function', function: { name: 'find_order', arguments: '{"order":"4711"}' } },
    ],
  };
  const result = { role: 'tool', tool_call_id: 'c1', content: '{"error":"not found"}' };
  const place = { trace, parent: trace };
  return [
    {
      id: trace,
      name: `Turn ${trace}`,
      thread: 'thread-1',
      at,
      ms: 900,
      inputs: { question: question.content },
      output: 'It is on its way.',
    },
    {
      ...place,
      id: `${trace}-model-1`,
      op: 'model.chat',
      at: at + 10,
      ms: 300,
      ...chat([system, question], asked),
    },
    {
      ...place,
      id: `${trace}-tool`,
      op: 'tool.find_order',
      at: at + 320,
      ms: 80,
      inputs: { order: '4711' },
      exception: 'OrderNotFound: 4711\n  at findOrder (orders.ts:17)\n  at agent (agent.ts:42)',
    },
    {
      ...place,
      id: `${trace}-model-2`,
      op: 'model.chat',
      at: at + 420,
      ms: 400,
      ...chat([system, question, { role: 'assistant', ...asked }, result], { content: 'It is on its way.' }),
    },
  ];
};
