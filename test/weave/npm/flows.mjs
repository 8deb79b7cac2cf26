/*
 * What people do with Weave's npm SDK, tried against a running service with default settings. The
 * environment has WF_TRACE_SERVER_URL, WANDB_BASE_URL, WANDB_API_KEY and INFERENCE_URL. Prints one
 * line of JSON for each flow: what it does, and why it did not work if it did not.
 *
 * It is a process of its own, since the SDK ends its process when it is refused too often.
 */

import assert from 'node:assert/strict';
import OpenAI from 'openai';
import * as weave from 'weave';

const project = 'acme/npm-sdk';
const client = await weave.init(project);
const flows = new Map();
const flow = (title, run) => flows.set(title, run);

/** The calls of an op, once everything has been sent. */
const callsOf = async (op) => {
  await client.waitForBatchProcessing();
  return client.getCalls({ op_names: [`weave:///${project}/op/${op.__name}:*`] });
};
const the = (items) => {
  assert.equal(items.length, 1);
  return items[0];
};

flow('a function, with its inputs and its output', async () => {
  const add = weave.op(function add(a, b) {
    return a + b;
  });
  assert.equal(await add(2, 3), 5);
  assert.equal(the(await callsOf(add)).output, 5);
});

flow('an async function', async () => {
  const slow = weave.op(async function slow(a) {
    await new Promise((done) => setTimeout(done, 5));
    return { doubled: a * 2 };
  });
  await slow(4);
  assert.deepEqual(the(await callsOf(slow)).output, { doubled: 8 });
});

flow('nested calls, which share a trace', async () => {
  const inner = weave.op(async function inner(a) {
    return a + 1;
  });
  const outer = weave.op(async function outer(a) {
    return (await inner(a)) + (await inner(a + 1));
  });
  await outer(1);
  const parent = the(await callsOf(outer));
  const children = await callsOf(inner);
  assert.equal(children.length, 2);
  for (const { parent_id, trace_id } of children)
    assert.deepEqual([parent_id, trace_id], [parent.id, parent.trace_id]);
});

flow('a stream, whose items are gathered', async () => {
  const words = weave.op(
    async function* words() {
      yield* ['a', 'b', 'c'];
    },
    {
      streamReducer: {
        initialStateFn: () => ({ text: '' }),
        reduceFn: (state, item) => ({ text: state.text + item }),
        finalizeFn: () => {},
      },
    },
  );
  const received = [];
  for await (const word of await words()) received.push(word);
  assert.deepEqual(received, ['a', 'b', 'c']);
  assert.equal(the(await callsOf(words)).output.text, 'abc');
});

flow('an exception, which is raised and recorded', async () => {
  const fails = weave.op(async function fails() {
    throw new Error('boom');
  });
  await assert.rejects(async () => fails(), /boom/);
  const { exception, summary } = the(await callsOf(fails));
  assert.match(exception, /boom/);
  assert.equal(summary.weave.status, 'error');
});

flow('attributes for all calls within', async () => {
  const marked = weave.op(async function marked() {
    return 1;
  });
  await weave.withAttributes({ env: 'test', build: { number: 7 } }, () => marked());
  const { attributes } = the(await callsOf(marked));
  assert.deepEqual([attributes.env, attributes.build], ['test', { number: 7 }]);
});

flow('display names: set by the op, and changed', async () => {
  const named = weave.op(
    async function named(who) {
      return who;
    },
    { callDisplayName: (who) => `for ${who}` },
  );
  await named('Ada');
  const call = the(await callsOf(named));
  assert.equal(call.display_name, 'for Ada');
  await client.updateCall(call.id, 'changed');
  assert.equal((await client.getCall(call.id)).display_name, 'changed');
});

flow('500 calls in a loop', async () => {
  const many = weave.op(async function many(i) {
    return i;
  });
  for (let i = 0; i < 500; i++) await many(i);
  assert.equal((await callsOf(many)).length, 500);
});

flow('batches of large calls', async () => {
  const large = weave.op(async function large(text) {
    return text.length;
  });
  await Promise.all(Array.from({ length: 20 }, (_, i) => large(String(i).padEnd(100_000, 'x'))));
  assert.equal((await callsOf(large)).length, 20);
});

flow('publish and get an object', async () => {
  const ref = await client.publish({ a: [1, { b: 'c' }] }, 'settings');
  assert.deepEqual(await client.get(ref), { a: [1, { b: 'c' }] });
});

flow('publish and get a prompt', async () => {
  const ref = await client.publish(new weave.StringPrompt({ content: 'Say {word}!' }), 'prompt');
  assert.equal((await client.get(ref)).format({ word: 'hello' }), 'Say hello!');
});

flow('a dataset, published and read', async () => {
  const rows = Array.from({ length: 30 }, (_, i) => ({ q: `question ${i}`, a: i }));
  const dataset = new weave.Dataset({ name: 'questions', rows });
  const found = await client.get(await dataset.save());
  assert.equal(found.length, 30);
  const answers = [];
  for await (const row of found) answers.push(row.a);
  assert.deepEqual(
    answers,
    rows.map(({ a }) => a),
  );
});

const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==',
  'base64',
);

flow('an image as an output', async () => {
  const draw = weave.op(async function draw() {
    return weave.weaveImage({ data: png });
  });
  await draw();
  const { output } = the(await callsOf(draw));
  const text = JSON.stringify(output);
  assert.match(text, /PIL\.Image\.Image/);
  const [digest] = Object.values(output.files);
  // The SDK reads no file back yet: "Coming soon!" is all that it gives.
  const answer = await fetch(`${process.env.WF_TRACE_SERVER_URL}/file/content`, {
    method: 'POST',
    headers: {
      authorization: `Basic ${btoa(`api:${process.env.WANDB_API_KEY}`)}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({ project_id: project, digest }),
  });
  assert.equal(answer.status, 200);
  assert.ok((await answer.arrayBuffer()).byteLength > 0);
});

const rows = [
  { x: 1, target: 2 },
  { x: 2, target: 3 },
  { x: 3, target: 5 },
];

flow('an evaluation', async () => {
  const increment = weave.op(async function increment({ datasetRow }) {
    return datasetRow.x + 1;
  });
  const exact = weave.op(function exact({ datasetRow, modelOutput }) {
    return datasetRow.target === modelOutput;
  });
  const dataset = new weave.Dataset({ name: 'numbers', rows });
  const evaluation = new weave.Evaluation({ name: 'exactness', dataset, scorers: [exact] });
  const results = await evaluation.evaluate({ model: increment });
  assert.equal(results.exact.true_count, 2);
  await client.waitForBatchProcessing();
});

flow('an evaluation, logged step by step', async () => {
  const logger = new weave.EvaluationLogger({
    name: 'logged',
    model: { name: 'a-model' },
    dataset: 'a-dataset',
  });
  for (const { x, target } of rows) {
    const prediction = logger.logPrediction({ x }, x + 1);
    await prediction.logScore('exact', x + 1 === target);
    await prediction.finish();
  }
  await logger.logSummary({ of: 3 });
  await client.waitForBatchProcessing();
  const calls = await client.getCalls({ op_names: [`weave:///${project}/op/Evaluation.evaluate:*`] });
  assert.ok(calls.some((call) => call.display_name === 'logged' || call.output?.of === 3));
});

flow('calls that are read one by one, with costs, and in part', async () => {
  const read = weave.op(async function read(i) {
    return i;
  });
  const [, call] = await read.invoke(1);
  await read(2);
  await client.waitForBatchProcessing();
  const id = the((await callsOf(read)).filter(({ output }) => output === 1)).id;
  assert.equal((await client.getCall(id, true)).output, 1);
  const filter = { op_names: [`weave:///${project}/op/read:*`] };
  assert.equal((await client.getCalls(filter, false, 1)).length, 1);
  assert.ok(call);
});

flow('OpenAI’s client on the inference endpoint, as one answer and as a stream', async () => {
  const openai = weave.wrapOpenAI(
    new OpenAI({ apiKey: process.env.WANDB_API_KEY, baseURL: process.env.INFERENCE_URL, maxRetries: 0 }),
  );
  const messages = [{ role: 'user', content: 'Say hello.' }];
  const answer = await openai.chat.completions.create({ model: 'echo-1', messages });
  assert.ok(answer.choices[0].message.content.length > 0);
  let streamed = '';
  const stream = await openai.chat.completions.create({ model: 'echo-1', messages, stream: true });
  for await (const { choices } of stream) streamed += choices[0]?.delta?.content ?? '';
  assert.ok(streamed.length > 0);
  await client.waitForBatchProcessing();
  const calls = (await client.getCalls()).filter(({ op_name }) =>
    /openai\.chat\.completions\.create/.test(op_name),
  );
  assert.equal(calls.length, 2);
});

const chosen = process.argv.slice(2);
for (const [title, run] of flows) {
  if (chosen.length > 0 && !chosen.includes(title)) continue;
  const timeout = new Promise((_, reject) =>
    setTimeout(() => reject(new Error('not over after 40 s')), 40_000).unref(),
  );
  const problem = await Promise.race([run(), timeout]).then(
    () => null,
    (error) => String(error?.stack ?? error?.message ?? JSON.stringify(error)).slice(0, 2000),
  );
  process.stdout.write(`${JSON.stringify({ flow: title, problem })}\n`);
}
process.exit(0);
