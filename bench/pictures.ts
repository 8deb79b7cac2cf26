/**
 * `npm run pictures`: takes the pictures of README and docs, light and dark, from a local service
 * with the demo's data. They go to docs/pictures. Then it takes every view at three widths in both themes,
 * for somebody to look at them all. These go to pictures, which git leaves out.
 */
import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Browser, Page } from 'playwright-core';
import { publicLinkClass, sharingClass } from '../api/shared/classes.ts';
import { formatToken, sharingObject } from '../api/shared/sharing.ts';
import { runPlain } from '../bin/common.ts';
import { promptName } from '../examples/shop/days.ts';
import { runDemo } from '../local/demo.ts';
import { type LocalService, startLocalService } from '../local/service.ts';
import { launchBrowser } from './harness/browser.ts';

const root = resolve(import.meta.dirname, '..');
const folder = join(root, 'docs/pictures');
const viewsFolder = join(root, 'pictures');
const project = 'demo/shop';
const viewport = { width: 1200, height: 720 };

/** What people ask a bicycle shop, and what is expected of an answer. */
const questions: readonly (readonly [question: string, expected: string])[] = [
  ['Where is my order 4711?', 'It left on Monday and arrives tomorrow.'],
  ['Can I return a helmet that I have worn once?', 'Yes, within 30 days, if it is not damaged.'],
  ['Does the Tourer 7 take 2.2 inch tyres?', 'No, 2.0 inches at most.'],
  ['My chain skips on the smallest sprocket. What now?', 'Chain or cassette are worn: measure the chain.'],
  ['Do you ship to Switzerland?', 'Yes, for 19 francs, customs included.'],
  ['Which pump fits a Presta valve?', 'Any of ours: the head takes both valves.'],
  ['I was charged twice for order 4802.', 'One charge is a hold, and is gone within three days.'],
  ['When is my bike back from service?', 'Thursday at noon.'],
];

/** The runs that are compared: which of the questions a model gets wrong, of every twelve. */
const runs = [
  { id: 'picture-careful', model: 'careful', wrong: [5], answer: '' },
  { id: 'picture-brief', model: 'brief', wrong: [1, 3, 4, 8, 10], answer: 'Please ask our service.' },
] as const;

/** How many rows each of the evaluations has. */
const rowCount = 48;

/** POSTs to the service. */
const post = async ({ url, key }: LocalService, path: string, body: object): Promise<Response> => {
  const answer = await fetch(url + path, {
    method: 'POST',
    headers: {
      authorization: `Basic ${Buffer.from(`api:${key}`).toString('base64')}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`);
  return answer;
};

/** Reports the evaluations that are compared in a picture. */
const reportEvaluations = async (service: LocalService): Promise<void> => {
  const began = Date.parse('2026-10-05T09:30:00Z');
  const ref = (path: string) => `svc:///${project}/${path}`;
  const val = { _type: 'Evaluation', name: 'support', dataset: ref('object/questions:v3') };
  const obj = { project_id: project, object_id: 'support', val };
  const { digest } = (await (await post(service, '/obj/create', { obj })).json()) as { digest: string };
  const batch = runs.flatMap(({ id: trace_id, model, wrong, answer }, run) => {
    const call = (id: string, parent_id: string | null, op: string, inputs: object, output: unknown) => {
      const ids = { project_id: project, id };
      const at = new Date(began + run * 3_600_000).toISOString();
      const start = { ...ids, trace_id, parent_id, op_name: ref(`op/${op}:v1`), started_at: at, inputs };
      return [
        { mode: 'start', req: { start } },
        { mode: 'end', req: { end: { ...ids, ended_at: at, output } } },
      ];
    };
    const rows = Array.from({ length: rowCount }, (_, at) => {
      const [question = '', expected = ''] = questions[at % questions.length] ?? [];
      const correct = !wrong.some((each) => each === at % 12);
      const output = correct ? expected : answer || 'I do not know, but I will ask.';
      const id = `${trace_id}-${at}`;
      const example = { inputs: { question }, expected, customer: 1000 + at };
      const latency = (8 - 3 * run + ((at * (5 + run)) % 7)) / 10;
      const brevity = Math.round(100 - output.length) / 100;
      const reason = correct ? 'It says what is expected.' : 'It sends the customer away.';
      const result = { output, scores: { correct: Number(correct), brevity }, model_latency: latency };
      return [
        ...call(id, trace_id, 'Evaluation.predict_and_score', { example, model }, result),
        ...call(`${id}-correct`, id, 'correct', { output, example }, { value: correct, reason }),
      ];
    });
    const inputs = { self: ref(`object/support:${digest}`), model };
    return [...call(trace_id, null, 'Evaluation.evaluate', inputs, {}), ...rows.flat()];
  });
  await post(service, '/call/upsert_batch', { batch });
};

/** Keeps charts on a dashboard. */
const createDashboard = async (service: LocalService): Promise<void> => {
  const filter = { sources: ['production'] };
  const charts = [
    { metric: 'call_count', filter, group_by: 'op_name', columns: 2 },
    { metric: 'latency_ms', filter },
    { metric: 'total_cost', filter, group_by: 'model', title: 'Cost by model' },
    { metric: 'score', score: { feedback_type: 'thumbs', path: 'up' }, filter },
    { metric: 'error_count', filter },
  ];
  const val = { _type: 'Dashboard', name: 'The shop', charts, saved_at: '2026-10-05T09:30:00Z' };
  await post(service, '/obj/create', { obj: { project_id: project, object_id: 'shop', val } });
};

/** Makes a public link to a trace, and gives its token. */
const shareTrace = async (service: LocalService, trace_id: string): Promise<string> => {
  const secret = createHash('sha256').update(trace_id).digest();
  const digest = createHash('sha256').update(secret).digest('base64url');
  const expires_at = new Date(Date.now() + 7 * 86_400_000).toISOString();
  const objects = {
    [sharingObject]: { _type: sharingClass, public_links: true },
    'link-picture': { _type: publicLinkClass, trace_id, expires_at, digest },
  };
  // The link of the first theme serves the other, too: a second version would end it.
  for (const [object_id, val] of Object.entries(objects))
    if (!shared.has(object_id)) {
      await post(service, '/obj/create', { obj: { project_id: project, object_id, val } });
      shared.add(object_id);
    }
  return formatToken([project, 'link-picture', secret.toString('base64url')]);
};

const shared = new Set<string>();

/** A picture: its name, its view, and what makes the view ready. */
interface Picture {
  readonly name: string;
  readonly path: string;
  readonly prepare: (page: Page) => Promise<unknown>;
}

/** Asks the service for the calls of an operation in a thread's topic, the newest first. */
const newestCall = async (service: LocalService, topic: string, op: string) => {
  const is = (path: string, value: string) => ({ $eq: [{ $getField: path }, { $literal: value }] });
  const body = {
    project_id: project,
    query: { $expr: { $and: [is('op_name', op), is('attributes.kind', 'model')] } },
    sort_by: [{ field: 'started_at', direction: 'desc' }],
    columns: ['thread_id'],
  };
  const answer = await post(service, '/calls/stream_query', body);
  const calls = (await answer.text())
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { id: string; trace_id: string; thread_id: string | null });
  const found = calls.find(({ thread_id }) => thread_id?.includes(topic));
  if (!found) throw new Error(`the demo has no call of ${op} about ${topic}`);
  return found;
};

/** The id of the issue that was seen most often in a day. */
const commonestIssue = async (service: LocalService): Promise<string> => {
  const answer = await post(service, '/issues/query', {
    project_id: project,
    start: new Date(Date.now() - 86_400_000).toISOString(),
    sort_by: [{ field: 'count', direction: 'desc' }],
    limit: 1,
  });
  const { issues } = (await answer.json()) as { issues: { issue_id: string }[] };
  const [first] = issues;
  if (!first) throw new Error('the demo has no issues');
  return first.issue_id;
};

const listPictures = async (service: LocalService): Promise<Picture[]> => {
  const at = encodeURIComponent(project);
  const { id, trace_id } = await newestCall(service, 'parcel', 'openai.chat.completions.create');
  const chain = await newestCall(service, 'chain', 'anthropic.messages.create');
  return [
    {
      name: 'trace',
      path: `trace?project=${at}&trace=${trace_id}&call=${id}`,
      prepare: (page) => page.locator('.message').nth(2).waitFor(),
    },
    {
      name: 'traces',
      path: `traces?project=${at}`,
      prepare: async (page) => {
        await page.getByRole('link', { name: 'support.turn' }).first().waitFor();
        await page.getByText('$0.').first().waitFor();
      },
    },
    {
      name: 'overview',
      path: `overview?project=${at}`,
      prepare: async (page) => {
        await page.locator('canvas').nth(1).waitFor();
        await page.getByRole('heading', { name: 'What got worse' }).waitFor();
        await page.getByRole('heading', { name: 'Operations' }).waitFor();
      },
    },
    {
      name: 'evaluation',
      path: `evaluation?project=${at}&runs=${encodeURIComponent(JSON.stringify(runs.map((run) => run.id)))}`,
      prepare: async (page) => {
        await page.getByText('every draw shows a fall').first().waitFor();
        await page.getByRole('button', { name: 'Row' }).first().waitFor();
      },
    },
    {
      name: 'playground',
      path: `playground?project=${at}&call=${chain.id}`,
      prepare: async (page) => {
        await page.getByRole('button', { name: 'Send' }).click();
        await page.getByText('finish: stop').waitFor();
        await page.getByRole('link', { name: 'Open the recorded call' }).waitFor();
      },
    },
  ];
};

/** Time for charts and images to be drawn, in ms. */
const settleMs = 400;

/** A laptop, a small one or a tablet, and a phone. */
const viewports = [
  { width: 1440, height: 900 },
  { width: 1024, height: 768 },
  { width: 390, height: 844 },
] as const;

/** Every view of the page, by name, with its path. */
const listViews = async (
  service: LocalService,
): Promise<readonly (readonly [name: string, path: string])[]> => {
  const at = `project=${encodeURIComponent(project)}`;
  const call = await newestCall(service, 'parcel', 'openai.chat.completions.create');
  const other = await newestCall(service, 'chain', 'anthropic.messages.create');
  const trace = `trace?${at}&trace=${call.trace_id}`;
  const picked = encodeURIComponent(JSON.stringify(runs.map((run) => run.id)));
  const thumbs = encodeURIComponent('feedback.[thumbs].payload.up');
  return [
    ['projects', ''],
    ['traces', `traces?${at}`],
    ['traces-found', `traces?${at}&text=order`],
    ['traces-peek', `traces?${at}&peek=${call.trace_id}`],
    ['traces-none', `traces?${at}&text=nothing-has-this`],
    ['trace', `${trace}&call=${call.id}`],
    ['trace-story', `${trace}&as=story`],
    ['trace-agents', `${trace}&totals=agents`],
    ['trace-context', `${trace}&totals=context`],
    ['trace-call-context', `${trace}&call=${call.id}&tab=context`],
    ['trace-timeline', `${trace}&as=timeline`],
    ['trace-graph', `${trace}&as=graph`],
    ['trace-data', `${trace}&call=${call.id}&tab=data`],
    ['trace-usage', `${trace}&call=${call.id}&tab=usage`],
    ['trace-feedback', `${trace}&call=${call.id}&tab=feedback`],
    ['trace-comments', `${trace}&call=${call.id}&tab=comments`],
    ['shared', `shared#${await shareTrace(service, call.trace_id)}`],
    ['compare', `compare?${at}&left=${call.id}&right=${other.id}`],
    ['issues', `issues?${at}`],
    ['issue', `issues?${at}&issue=${await commonestIssue(service)}`],
    ['threads', `threads?${at}`],
    ['thread', `thread?${at}&thread=${encodeURIComponent(call.thread_id ?? '')}`],
    ['overview', `overview?${at}`],
    ['overview-groups', `overview?${at}&split=true&by=model`],
    ['overview-score', `overview?${at}&split=true&by=score&score=${thumbs}`],
    ['agents', `agents?${at}`],
    ['agent', `agents?${at}&agent=support`],
    ['tools', `tools?${at}`],
    ['tool', `tools?${at}&tool=find_order`],
    ['agents-coding', 'agents?project=demo%2Fcoding'],
    ['agent-coding', 'agents?project=demo%2Fcoding&agent=claude-code'],
    ['threads-coding', 'threads?project=demo%2Fcoding&by=repository'],
    ['dashboards', `dashboards?${at}`],
    ['dashboard', `dashboards?${at}&dashboard=shop`],
    ['scores', `scores?${at}`],
    ['score', `scores?${at}&score=${thumbs}`],
    ['alerts', `alerts?${at}`],
    ['alert', `alerts?${at}&alert=too-many-errors`],
    ['alert-form', `alerts?${at}&form=true`],
    ['datasets', `datasets?${at}`],
    ['dataset', `datasets?${at}&dataset=questions`],
    ['evaluations', `evaluations?${at}`],
    ['evaluation', `evaluation?${at}&runs=${picked}`],
    ['evaluate', `evaluate?${at}`],
    ['evaluators', `evaluators?${at}`],
    ['evaluator', `evaluators?${at}&evaluator=in-time`],
    ['evaluator-form', `evaluators?${at}&form=true`],
    ['reviews', `reviews?${at}`],
    ['queue', `reviews?${at}&queue=slow-answers`],
    ['prompts', `prompts?${at}`],
    ['prompt', `prompts?${at}&prompt=${promptName}`],
    ['prompt-form', `prompts?${at}&prompt=${promptName}&version=2&form=true`],
    ['prompt-try', `playground?${at}&prompt=${promptName}&call=${call.id}`],
    ['playground', `playground?${at}&call=${other.id}`],
    ['objects', `objects?${at}`],
    ['object', `objects?${at}&object=support-prompt`],
    ...[
      'general',
      'members',
      'keys',
      'limits',
      'retention',
      'redaction',
      'webhooks',
      'prices',
      'audit',
      'delete',
    ].map((section) => [`settings-${section}`, `settings?${at}&section=${section}`] as const),
  ];
};

/** Takes every view in a theme, at all widths. */
const takeViews = async (browser: Browser, service: LocalService, colorScheme: 'light' | 'dark') => {
  const context = await browser.newContext({ colorScheme, locale: 'en-US', timezoneId: 'UTC' });
  await context.addInitScript((key) => sessionStorage.setItem('pennytrace.key', key), service.key);
  for (const [name, path] of await listViews(service))
    for (const size of viewports) {
      const page = await context.newPage();
      await page.setViewportSize(size);
      await page.goto(`${service.url}/ui/${path}`);
      await page.waitForLoadState('networkidle');
      await sleep(settleMs);
      await page.screenshot({ path: join(viewsFolder, `${name}-${size.width}-${colorScheme}.png`) });
      await page.close();
    }
  await context.close();
};

const take = async (browser: Browser, service: LocalService, colorScheme: 'light' | 'dark') => {
  const context = await browser.newContext({ viewport, colorScheme, locale: 'en-US', timezoneId: 'UTC' });
  await context.addInitScript((key) => sessionStorage.setItem('pennytrace.key', key), service.key);
  for (const { name, path, prepare } of await listPictures(service)) {
    const page = await context.newPage();
    await page.goto(`${service.url}/ui/${path}`);
    await prepare(page);
    await sleep(settleMs);
    const file = join(folder, `${name}-${colorScheme}.png`);
    await page.screenshot({ path: file });
    console.log(file);
    await page.close();
  }
  await context.close();
};

const takeAll = async (): Promise<void> => {
  const service = await startLocalService({ settings: { alerts: true, evaluators: true } });
  try {
    await runDemo(service, AbortSignal.timeout(120_000));
    await reportEvaluations(service);
    await createDashboard(service);
    const browser = await launchBrowser();
    mkdirSync(folder, { recursive: true });
    try {
      for (const colorScheme of ['light', 'dark'] as const) await take(browser, service, colorScheme);
      mkdirSync(viewsFolder, { recursive: true });
      for (const colorScheme of ['light', 'dark'] as const) await takeViews(browser, service, colorScheme);
      console.log(`Look at all views: ${viewsFolder}`);
    } finally {
      await browser.close();
    }
  } finally {
    await service.stop();
  }
};

await runPlain('pictures', 'Take the pictures in docs/pictures anew: npm run pictures', takeAll);
process.exit();
