/**
 * Evaluates a function on a dataset, as a trace, and compares it with an earlier evaluation. With
 * --max-fall it exits with 1 if the mean of a score fell by more: for CI.
 *
 *     PENNYTRACE_URL=http://127.0.0.1:8787 PENNYTRACE_KEY=svc_… \
 *       npx node clients/js/evaluate.ts --dataset orders --model careful --max-fall 0.05
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';

type Json = Record<string, unknown>;
type Work<T> = { output: T; usage?: Json; passed?: boolean };
type Place = { id: string; trace: string } | null;
type Row = { inputs: Json; expected?: unknown };
type Stored = { digest: string; val: { rows: string; evaluation: string } };
type Answer = { digest: string; objs: Stored[]; rows: { val: Row }[] };
type Scored = { id: string; output: Record<string, { mean: number }> };
type Verdict = { value: number | boolean; reason?: string };

/* What is evaluated: put your own in its place. */
const sample: Row[] = [
  { inputs: { question: 'Where is order W1001?' }, expected: 'on its way' },
  { inputs: { question: 'Where is order W1002?' }, expected: 'delivered' },
  { inputs: { question: 'Where is order W9999?' }, expected: 'unknown' },
];
const orders: Record<string, string> = { W1001: 'on its way', W1002: 'delivered' };

/** Stands for an application: it answers a question, and says which tokens that took. */
const answer = async ({ question }: Json, model: string): Promise<Work<unknown>> => {
  await sleep(20);
  const found = orders[/W\d+/.exec(String(question))?.[0] ?? ''];
  if (!found && model === 'hasty') throw new Error('no such order');
  const output = model === 'hasty' ? 'on its way' : (found ?? 'unknown');
  return { output, usage: { [model]: { prompt_tokens: 40, completion_tokens: 5, requests: 1 } } };
};
const scorers: Record<string, (output: unknown, row: Row) => Verdict> = {
  correct: (output, { expected }) => ({ value: output === expected, reason: `expected: ${expected}` }),
  brevity: (output) => ({ value: Math.max(0, 1 - String(output).length / 100) }),
};
/* How: nothing below depends on what is evaluated. */
const { dataset, model, ...options } = parseArgs({
  options: {
    dataset: { type: 'string', default: 'orders' },
    model: { type: 'string', default: 'careful' },
    parallel: { type: 'string', default: '8' },
    baseline: { type: 'string' }, // a name or an evaluation's id; without it, the latest that passed
    'set-baseline': { type: 'boolean', default: false }, // the name is this evaluation's from now on
    'max-fall': { type: 'string', default: 'Infinity' },
  },
}).values;
const { PENNYTRACE_URL: url = 'http://127.0.0.1:8787', PENNYTRACE_KEY: key = '' } = process.env;
const authorization = `Basic ${Buffer.from(`api:${key}`).toString('base64')}`;
const project_id = process.env.PENNYTRACE_PROJECT ?? 'demo/shop';
const ref = (path: string): string => `svc:///${project_id}/${path}`;
const now = () => new Date().toISOString();
/** Sends a request, again after a failure that may pass. */
const post = async <T = Answer>(path: string, body: object, tries = 3): Promise<T> => {
  const headers = { authorization, accept: 'application/json', 'content-type': 'application/json' };
  const response = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) });
  if (response.ok) return (await response.json()) as T;
  if (tries === 1 || (response.status < 500 && response.status !== 429))
    throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
  await sleep(500);
  return post(path, body, tries - 1);
};
const create = async (object_id: string, val: Json): Promise<string> =>
  ref(`object/${object_id}:${(await post('/obj/create', { obj: { project_id, object_id, val } })).digest}`);
const latest = async (object_id: string): Promise<Stored | undefined> => {
  const filter = { object_ids: [object_id], latest_only: true };
  return (await post('/objs/query', { project_id, filter })).objs[0];
};
/** The rows of the stored dataset, and its ref. If there is none, the sample is stored. */
const readDataset = async (): Promise<{ rows: Row[]; at: string }> => {
  const found = await latest(dataset);
  if (!found) {
    const table = await post('/table/create', { table: { project_id, rows: sample } });
    const val = { _type: 'Dataset', name: dataset, rows: ref(`table/${table.digest}`), saved_at: now() };
    return { rows: sample, at: await create(dataset, val) };
  }
  const { rows } = await post('/table/query', { project_id, digest: found.val.rows.split('/').at(-1) });
  return { rows: rows.map(({ val }) => val), at: ref(`object/${dataset}:${found.digest}`) };
};
const reports: object[] = [];
/** Runs a step as a call below another one, and reports it. Undefined if it fails. */
const traced = async <T>(op: string, above: Place, inputs: Json, step: (at: Place) => Promise<Work<T>>) => {
  const at = { id: randomUUID(), trace: above?.trace ?? randomUUID() };
  const ids = { project_id, id: at.id, trace_id: at.trace, parent_id: above?.id ?? null };
  const attributes = { source: 'evaluation' };
  const start = { ...ids, op_name: ref(`op/${op}:v1`), started_at: now(), attributes, inputs };
  reports.push({ mode: 'start', req: { start } });
  const ended = await step(at).then(
    ({ output, usage = {}, passed }) => ({ output, summary: { usage, passed } }),
    (error) => ({ output: undefined, exception: String(error) }),
  );
  reports.push({ mode: 'end', req: { end: { project_id, id: at.id, ended_at: now(), ...ended } } });
  return ended.output;
};
/** One row: the function, then its scorers. What fails scores 0. Latency in seconds. */
const predictAndScore = (example: Row, above: Place) =>
  traced('Evaluation.predict_and_score', above, { example, model }, async (at) => {
    const began = performance.now();
    const inputs = { ...example.inputs, model };
    const output = await traced('answer', at, inputs, () => answer(example.inputs, model));
    const model_latency = (performance.now() - began) / 1000;
    const scores: Record<string, number> = {};
    for (const [name, score] of Object.entries(scorers)) {
      const judge = async () => ({ output: score(output, example) });
      const verdict = output === undefined ? undefined : await traced(name, at, { output, example }, judge);
      scores[name] = Number(verdict?.value ?? 0) || 0;
    }
    return { output: { output: output ?? null, scores, model_latency } };
  });
const evaluate = 'Evaluation.evaluate';
const { rows, at } = await readDataset();
const definition = { _type: 'Evaluation', name: dataset, dataset: at, scorers: Object.keys(scorers) };
const self = await create(`${dataset}-evaluation`, definition); // the same value is the same version
const equal = (path: string, value: unknown) => ({ $eq: [{ $getField: path }, { $literal: value }] });
const place = `${dataset}-baseline-${options.baseline}`.replace(/[^\w.-]/g, '-');
if (options['set-baseline'] && !options.baseline)
  throw new Error('--set-baseline needs a --baseline <name>.');
const named = options.baseline && ((await latest(place))?.val.evaluation ?? options.baseline);
const comparable = [equal('inputs.self', self), equal('summary.svc.status', 'success')];
const [baseline] = await post<Scored[]>('/calls/stream_query', {
  project_id,
  columns: ['output'],
  limit: 1,
  sort_by: [{ field: 'started_at', direction: 'desc' }],
  filter: named ? { call_ids: [named] } : { op_names: [ref(`op/${evaluate}:v1`)] },
  query: { $expr: { $and: named ? comparable : [...comparable, equal('summary.passed', true)] } },
});
if (named && !baseline && !options['set-baseline'])
  throw new Error(`${named} is no evaluation of this version of the dataset: set one with --set-baseline.`);
const limit = Number(options['max-fall']);
if (Number.isNaN(limit)) throw new Error('--max-fall should be a number, such as 0.05.');
/** How far the mean of a score is below the baseline's. */
const measureFall = (name: string, mean: number): number => {
  const before = name in scorers ? baseline?.output[name]?.mean : undefined;
  return before === undefined ? 0 : Number((before - mean).toFixed(9)); // sums of another order round otherwise
};
const mean = (values: number[]) => ({ mean: values.reduce((sum, value) => sum + value, 0) / values.length });
let evaluation: string | undefined;
const summary = await traced(evaluate, null, { self, model }, async (root) => {
  evaluation = root?.id;
  const search = new URLSearchParams({ project: project_id, runs: JSON.stringify([baseline?.id, root?.id]) });
  console.log(`Evaluation ${root?.id}\n${url}/ui/evaluation?${search}`);
  const results: { scores: Record<string, number>; model_latency: number }[] = [];
  const waiting = rows.values();
  const work = async () => {
    for (const row of waiting) {
      results.push((await predictAndScore(row, root)) ?? { scores: {}, model_latency: 0 });
      const bar = '█'.repeat((30 * results.length) / rows.length).padEnd(30, '░');
      process.stderr.write(`\r${bar} ${results.length}/${rows.length}`);
      if (reports.length > 200) await post('/call/upsert_batch', { batch: reports.splice(0) });
    }
  };
  await Promise.all(Array.from({ length: Number(options.parallel) }, work));
  const toEntry = (name: string) => [name, mean(results.map(({ scores }) => scores[name] ?? 0))];
  const model_latency = mean(results.map((result) => result.model_latency));
  const means = { ...Object.fromEntries(Object.keys(scorers).map(toEntry)), model_latency };
  // Without a limit, only what is no worse at all becomes what later evaluations are compared with.
  const allowed = Number.isFinite(limit) ? limit : 0;
  const all = Object.entries<{ mean: number }>(means);
  const passed = all.every(([name, { mean }]) => measureFall(name, mean) <= allowed);
  return { output: means, passed };
});
await post('/call/upsert_batch', { batch: reports });
let fell = summary === undefined;
console.log(`\n${'score'.padEnd(20)} mean  baseline`);
for (const [name, { mean }] of Object.entries<{ mean: number }>(summary ?? {})) {
  const tooLow = measureFall(name, mean) > limit;
  const before = baseline?.output[name]?.mean.toFixed(3) ?? '–';
  console.log(name.padEnd(20), mean.toFixed(3), before, tooLow ? 'fell' : '');
  fell ||= tooLow;
}
if (options['set-baseline'] && !fell) {
  await create(place, { _type: 'Baseline', evaluation });
  console.log(`The baseline ${options.baseline} is this evaluation from now on.`);
}
process.exitCode = fell ? 1 : 0;
