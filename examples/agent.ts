/**
 * A small agent that traces itself. It answers a customer in three turns, with a scripted model and
 * a tool. It reports every operation as a call while it works, then reads the calls back.
 *
 *     PENNYTRACE_URL=http://127.0.0.1:8787 PENNYTRACE_KEY=svc_… npx node examples/agent.ts
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

const url = process.env.PENNYTRACE_URL ?? 'http://127.0.0.1:8787';
const key = process.env.PENNYTRACE_KEY ?? '';
const project = process.env.PENNYTRACE_PROJECT ?? 'demo/shop';
const authorization = `Basic ${Buffer.from(`api:${key}`).toString('base64')}`;

const post = async (path: string, body: object): Promise<Response> => {
  const response = await fetch(url + path, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
  return response;
};

type Batch = { mode: 'start' | 'end'; req: object }[];
const pending: Batch = [];
let sent = 0;

/**
 * Sends the pending reports. A client library would do so every second or every few hundred items.
 */
const flush = async (): Promise<void> => {
  const batch = [...pending];
  if (batch.length === 0) return;
  await post('/call/upsert_batch', { batch });
  // Only acknowledged reports are dropped. After an error the next flush sends them again, which
  // does no harm.
  pending.splice(0, batch.length);
  sent += batch.length;
  console.log(
    `  → POST /call/upsert_batch  ${batch.length} items: ${batch.map(({ mode }) => mode).join(', ')}`,
  );
};

interface Context {
  readonly trace: string;
  readonly thread: string;
  readonly turn: string;
  readonly parent: string | null;
}

/** Milliseconds alone would leave calls of the same moment without an order. */
const now = (): string => {
  const micros = Math.round((performance.timeOrigin + performance.now()) * 1000);
  return `${new Date(Math.floor(micros / 1000)).toISOString().slice(0, -1)}${String(micros % 1000).padStart(3, '0')}Z`;
};

/** Runs an operation as a call. Its start is reported before it, its end or exception after it. */
const traced = async <T>(
  name: string,
  { trace, thread, turn, parent }: Context,
  inputs: object,
  operation: (id: string) => Promise<{ output: T; summary?: object }>,
): Promise<T> => {
  const id = parent === null ? turn : randomUUID();
  const start = {
    project_id: project,
    id,
    op_name: `svc:///${project}/op/${name}:v1`,
    trace_id: trace,
    parent_id: parent,
    thread_id: thread,
    turn_id: turn,
    started_at: now(),
    attributes: { example: 'agent' },
    inputs,
  };
  pending.push({ mode: 'start', req: { start } });
  const end = (fields: object) =>
    pending.push({ mode: 'end', req: { end: { project_id: project, id, ended_at: now(), ...fields } } });
  try {
    const { output, summary = {} } = await operation(id);
    end({ output, summary });
    return output;
  } catch (error) {
    end({ exception: String(error) });
    throw error;
  }
};

const orders: Readonly<Record<string, string>> = { W1001: 'shipped on Monday, arrives on Thursday' };

const findOrder = async (order: string): Promise<string> => {
  await sleep(20);
  const found = orders[order];
  if (found === undefined) throw new Error(`no order ${order}`);
  return found;
};

/** Stands for a model. It requests the tool if it sees an order number, and answers otherwise. */
const model = async (messages: readonly { role: string; content: string }[]) => {
  await sleep(30 + Math.random() * 40);
  const last = messages.at(-1);
  const order = last?.role === 'user' ? /W\d+/.exec(last.content)?.[0] : undefined;
  const content = order
    ? ''
    : last?.role === 'tool'
      ? `Your order: ${last.content}.`
      : 'What is your order number?';
  const usage = {
    'scripted-model': {
      prompt_tokens: JSON.stringify(messages).length >> 2,
      completion_tokens: 12,
      requests: 1,
    },
  };
  return { output: { content, order: order ?? null }, summary: { usage } };
};

const messages = [{ role: 'system', content: 'You help customers of a bicycle shop with their orders.' }];

const turn = async (message: string, thread: string): Promise<void> => {
  const context: Context = { trace: randomUUID(), thread, turn: randomUUID(), parent: null };
  const answer = await traced('agent.turn', context, { message }, async (parent) => {
    messages.push({ role: 'user', content: message });
    const inner = { ...context, parent };
    for (;;) {
      const reply = await traced(
        'model.chat',
        inner,
        { model: 'scripted-model', messages: [...messages] },
        () => model(messages),
      );
      if (reply.order === null) return { output: reply.content };
      const { order } = reply;
      const found = await traced('tool.find_order', inner, { order }, async () => ({
        output: await findOrder(order),
      })).catch(String);
      messages.push({ role: 'tool', content: found });
    }
  });
  console.log(`customer: ${message}\nagent:    ${answer}`);
  await flush();
};

interface AnsweredCall {
  readonly id: string;
  readonly parent_id: string | null;
  readonly summary: {
    readonly svc: {
      readonly status: string;
      readonly latency_ms: number | null;
      readonly trace_name: string;
    };
  };
}

/** Prints the calls that match a filter, one per line. */
const show = async (filter: object): Promise<void> => {
  const columns = ['id', 'parent_id', 'summary'];
  const response = await post('/calls/stream_query', { project_id: project, filter, columns });
  const lines = (await response.text()).trim().split('\n');
  for (const line of lines) {
    const { parent_id: parent, summary }: AnsweredCall = JSON.parse(line);
    const { trace_name: name, status, latency_ms: latency } = summary.svc;
    const indent = parent === null ? '  ' : '    ';
    const took = latency === null ? '–' : `${latency} ms`;
    console.log(`${(indent + name).padEnd(22)}${took.padStart(9)}  ${status}`);
  }
};

const thread = `demo-${Date.now()}`;
console.log(`A customer writes (thread ${thread} in project ${project}):`);
await turn('Hello, where is my parcel?', thread);
await turn('It is W1001.', thread);
await turn('And W9999?', thread);

// A call can be read from its start on, long before its end.
const context: Context = { trace: randomUUID(), thread, turn: randomUUID(), parent: null };
console.log('customer: Thank you!');
await traced('agent.turn', context, { message: 'Thank you!' }, async (id) => {
  await flush();
  console.log('POST /calls/stream_query gives that call while it runs:');
  await show({ call_ids: [id] });
  return { output: 'You are welcome.' };
});
console.log('agent:    You are welcome.');
await flush();

console.log(`\nSent ${sent} items. POST /calls/stream_query gives the thread back:`);
await show({ thread_ids: [thread] });
