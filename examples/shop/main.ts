/**
 * Two days of a bicycle shop, reported at once. There are conversations with two models, tools,
 * embeddings and errors, feedback, a price, and a prompt with its versions. So a new service has
 * enough to show, with a dataset, evaluations, an evaluator, an alert and reviews. A project that has calls already is left as it is.
 *
 *     PENNYTRACE_URL=http://127.0.0.1:8787 PENNYTRACE_KEY=svc_… npx node examples/shop/main.ts
 */
import { type DemoCall, toReports } from './conversations.ts';
import { daysOfCalls, feedbackOn, promptName, prompts, verdictsOn } from './days.ts';
import { alert, evaluationsOf, evaluator, questions, reviewFields, reviewsOf, toQueue } from './improve.ts';

const url = process.env.PENNYTRACE_URL ?? 'http://127.0.0.1:8787';
const key = process.env.PENNYTRACE_KEY ?? '';
const project = process.env.PENNYTRACE_PROJECT ?? 'demo/shop';
const authorization = `Basic ${Buffer.from(`api:${key}`).toString('base64')}`;

const post = async (path: string, body: object): Promise<string> => {
  const response = await fetch(url + path, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${path} answered ${response.status}: ${text}`);
  return text;
};

const batchSize = 200;

const report = async (calls: readonly DemoCall[]): Promise<void> => {
  const reports = calls.flatMap((call, at) => toReports(project, call, at));
  for (let at = 0; at < reports.length; at += batchSize)
    await post('/call/upsert_batch', { batch: reports.slice(at, at + batchSize) });
};

/** Makes the versions of the prompt. Each was tried in staging before it went into production. */
const addPrompt = async (): Promise<void> => {
  for (const [version_index, system] of prompts.entries()) {
    const messages = [
      { role: 'system', content: system },
      { role: 'user', content: '{question}' },
    ];
    const config = { model: 'gpt-4o-mini', parameters: { temperature: version_index === 0 ? 1 : 0.2 } };
    const place = { project_id: project, name: promptName };
    await post('/prompt/create', { ...place, messages, config, labels: ['staging'] });
    await post('/prompt/labels', { ...place, label: 'production', version_index });
  }
};

/** Stores a version of an object. Returns a ref to it. */
const create = async (object_id: string, val: object): Promise<string> => {
  const { digest } = JSON.parse(await post('/obj/create', { obj: { project_id: project, object_id, val } }));
  return `svc:///${project}/object/${object_id}:${digest}`;
};

const addEvaluations = async (now: number): Promise<void> => {
  const table = await post('/table/create', { table: { project_id: project, rows: questions } });
  const rows = `svc:///${project}/table/${JSON.parse(table).digest}`;
  const saved_at = new Date(now).toISOString();
  const name = 'questions';
  const dataset = await create(name, { _type: 'Dataset', name, rows, saved_at });
  const definition = { _type: 'Evaluation', name: 'support', dataset, scorers: ['correct', 'brevity'] };
  await report(evaluationsOf(await create('support-evaluation', definition), now));
};

const addReviews = async (calls: readonly DemoCall[]): Promise<void> => {
  const [correct, tone] = await Promise.all([
    create('correct', reviewFields.correct),
    create('tone', reviewFields.tone),
  ]);
  const batch = reviewsOf(project, calls, { correct, tone });
  await Promise.all([
    create('slow-answers', toQueue([correct, tone])),
    post('/feedback/batch/create', { batch }),
  ]);
};

const isEmpty = async (): Promise<boolean> =>
  (await post('/calls/stream_query', { project_id: project, limit: 1 })).trim() === '';

if (await isEmpty()) {
  const now = Date.now();
  const calls = daysOfCalls(now);
  await report(calls);
  const batch = [...feedbackOn(project, calls), ...verdictsOn(project, calls)];
  await post('/feedback/batch/create', { batch });
  await Promise.all([
    addPrompt(),
    addEvaluations(now),
    addReviews(calls),
    create('in-time', { ...evaluator, saved_at: new Date(now).toISOString() }),
    create('too-many-errors', { ...alert, saved_at: new Date(now).toISOString() }),
  ]);
  // The price of the example agent's model, which no table of prices has.
  const price = { prompt_token_cost: 0.000_000_4, completion_token_cost: 0.000_001_6 };
  const effective = new Date(Date.now() - 48 * 3_600_000).toISOString();
  await post('/cost/create', {
    project_id: project,
    costs: { 'scripted-model': { ...price, effective_date: effective } },
  });
  const roots = calls.filter(({ parent }) => parent === null).length;
  console.log(`Reported two days of a bicycle shop to ${project}: ${roots} traces, ${calls.length} calls.`);
}
