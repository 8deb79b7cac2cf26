import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { allowLinks, makeLink, tokenOf } from '../support/endpoints/sharing.ts';
import { post, report, turn } from './support/calls.ts';
import { readShift } from './support/shift.ts';
import { useBrowser } from './support/visit.ts';

/* Nothing that is on the screen moves when something comes, and nothing is wider than a phone. */

const visit = useBrowser();
const project = 'page/stability';
const at = encodeURIComponent(project);
/** The day of the calls. */
const octoberFirst = 'from=2026-10-01T00:00:00Z&to=2026-10-02T00:00:00Z';
const helpful = encodeURIComponent('feedback.[evaluation.helpful].payload.value');

/** A public link to a trace of another project: its objects are none of this one's. */
const shared = 'page/stability-shared';
const link = tokenOf(shared, 'link');

beforeAll(async () => {
  for (let place = 0; place < 8; place++) await report(project, turn(`s${place}`, place * 60_000));
  const agent = { name: 'helper', version: '1' };
  await report(project, [
    { id: 'run', at: 500_000, ms: 900, attributes: { kind: 'agent', agent } },
    {
      id: 'find',
      trace: 'run',
      parent: 'run',
      op: 'find_order',
      at: 500_100,
      exception: 'Not found',
      attributes: { kind: 'tool', agent, tool: { name: 'find_order' } },
    },
  ]);
  const batch = ['s1', 's2', 's3'].map((call, i) => ({
    project_id: project,
    svc_ref: `svc:///${project}/call/${call}`,
    feedback_type: 'evaluation.helpful',
    payload: { value: i / 2, reason: 'It names the parcel, and says when it arrives.' },
  }));
  await post('/feedback/batch/create', { batch });
  const filter = { sources: ['production'] };
  const charts = [
    { metric: 'call_count', filter, group_by: 'op_name', columns: 2 },
    { metric: 'latency_ms', filter },
    { metric: 'score', score: { feedback_type: 'evaluation.helpful', path: 'value' } },
  ];
  const val = { _type: 'Dashboard', name: 'Stable', charts, saved_at: '2026-10-01T12:00:00Z' };
  await post('/obj/create', { obj: { project_id: project, object_id: 'stable', val } });
  for (const text of ['Help {name}.', 'Help {name}, soon.'])
    await post('/prompt/create', { project_id: project, name: 'support', text, labels: ['production'] });
  await report(shared, turn('s1', 0));
  await post('/obj/create', allowLinks(shared).body);
  // Once, though a second try of a test comes here again: a link with two versions is over.
  const { objs } = (await post('/objs/query', { project_id: shared, filter: { object_ids: ['link'] } })) as {
    objs: unknown[];
  };
  if (objs.length === 0) await post('/obj/create', makeLink(shared, 'link', 's1').body);
});

/** Every view, with something that is there once it has all. */
const views: readonly (readonly [string, string, string])[] = [
  ['the traces', `traces?project=${at}`, '.row-link'],
  ['a trace', `trace?project=${at}&trace=s1`, '[role=treeitem]'],
  ['a trace beside the list', `traces?project=${at}&peek=s1`, '.peek .tabs'],
  ['a shared trace', `shared#${link}`, '[role=treeitem]'],
  ['the issues', `issues?project=${at}&${octoberFirst}`, '.issues-table'],
  ['the threads', `threads?project=${at}`, '.threads tbody a'],
  ['a thread', `thread?project=${at}&thread=thread-1`, '.turn'],
  ['the overview', `overview?project=${at}&${octoberFirst}`, '.chart canvas'],
  ['a dashboard', `dashboards?project=${at}&dashboard=stable&${octoberFirst}`, '.chart canvas'],
  ['the agents', `agents?project=${at}&${octoberFirst}`, '.agents-table'],
  ['an agent', `agents?project=${at}&agent=helper&${octoberFirst}`, '.chart canvas'],
  ['the tools', `tools?project=${at}&${octoberFirst}`, '.agents-table'],
  ['a tool', `tools?project=${at}&tool=find_order&${octoberFirst}`, '.chart canvas'],
  ['the scores', `scores?project=${at}`, '.spread'],
  ['a score', `scores?project=${at}&score=${helpful}`, '.chart canvas'],
  ['the alerts', `alerts?project=${at}`, 'h1'],
  ['the datasets', `datasets?project=${at}`, '.empty'],
  ['the evaluations', `evaluations?project=${at}`, 'h1'],
  ['a new evaluation', `evaluate?project=${at}`, 'form'],
  ['the evaluators', `evaluators?project=${at}`, 'h1'],
  ['the reviews', `reviews?project=${at}`, '.empty'],
  ['the playground', `playground?project=${at}&call=s1-model-1`, 'textarea'],
  ['the prompts', `prompts?project=${at}`, '.prompts-table'],
  ['a prompt', `prompts?project=${at}&prompt=support`, '.prompt-uses, .diff'],
  ['the objects', `objects?project=${at}`, 'h1'],
  ['the settings', `settings?project=${at}`, '.connect-steps'],
  ['the members', `settings?project=${at}&section=members`, '.empty'],
  ['the keys', `settings?project=${at}&section=keys`, '.plain-table'],
  ['the spending limits', `settings?project=${at}&section=limits`, 'form'],
  ['the retention', `settings?project=${at}&section=retention`, 'form'],
  ['the redaction', `settings?project=${at}&section=redaction`, '.settings-section p'],
  ['the webhooks', `settings?project=${at}&section=webhooks`, '.settings-section p'],
  ['the prices', `settings?project=${at}&section=prices`, 'form'],
  ['the audit trail', `settings?project=${at}&section=audit`, '.audit-filters'],
  ['what deletes the project', `settings?project=${at}&section=delete`, 'form'],
];

/** What has more in it than a view shows at first. */
const furtherViews: typeof views = [
  ['the story of a trace', `trace?project=${at}&trace=s1&as=story`, '.story-place'],
  ['the timeline of a trace', `trace?project=${at}&trace=s1&as=timeline`, '.timeline-scroll'],
  ['the graph of a trace', `trace?project=${at}&trace=s1&as=graph`, '.graph-node'],
  ['a call', `trace?project=${at}&trace=s1&call=s1-model-1`, '.call-pane .message'],
  ['the comments on a call', `trace?project=${at}&trace=s1&call=s1&tab=comments`, '.comment-form'],
  ['a call of a shared trace', `shared?call=s1-model-1#${link}`, '.call-pane .message'],
  ['the search of a tree', `trace?project=${at}&trace=s1`, '.tree-tools input'],
  ['the form of an alert', `alerts?project=${at}&form=true`, '.alert-form'],
  ['the form of an evaluator', `evaluators?project=${at}&form=true`, '.evaluator-form'],
  ['the form of a prompt', `prompts?project=${at}&prompt=support&form=true`, '.template-area'],
  ['the dashboards', `dashboards?project=${at}`, '.plain-table'],
  ['the groups of the overview', `overview?project=${at}&split=true&by=model`, 'h1'],
];

/** What scrolls sideways: the document, and the panes that only scroll down. */
const readWidePanes = (page: Page): Promise<string[]> =>
  page.evaluate(`[
    document.documentElement,
    ...document.querySelectorAll(
      'main, .view-place, .view, .peek, .call-pane, .tree-pane, .tree-scroll, .object-list, .object-groups',
    ),
  ]
    .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)
    .map(
      (pane) =>
        (pane.className || pane.nodeName) + ' is ' + pane.scrollWidth + ' px in ' + pane.clientWidth + ' px',
    )`);

describe.each([
  { width: 1440, height: 900 },
  { width: 390, height: 844 },
])('at $width px', (viewport) => {
  it.each(views)('%s stays where it is', async (_, path, sign) => {
    const page = await visit(path, { viewport });
    await page.locator(sign).first().waitFor();
    await page.waitForLoadState('networkidle');
    const { sum, parts } = await readShift(page);
    expect(sum, parts.join('\n')).toBeLessThan(0.1);
  });
});

describe('on a phone', () => {
  const viewport = { width: 390, height: 844 };

  it.each([...views, ...furtherViews])('%s does not scroll sideways', async (_, path, sign) => {
    const page = await visit(path, { viewport });
    await page.locator(sign).first().waitFor();
    await page.waitForLoadState('networkidle');
    expect(await readWidePanes(page)).toEqual([]);
  });
});

it('is measured: what moves is seen', async () => {
  const page = await visit(`traces?project=${at}`, { viewport: { width: 1440, height: 900 } });
  await page.locator('.row-link').first().waitFor();
  await page.waitForLoadState('networkidle');
  await page.evaluate(`{
    const block = document.createElement('div');
    block.style.blockSize = '300px';
    document.querySelector('main').prepend(block);
  }`);
  expect((await readShift(page)).sum).toBeGreaterThan(0.1);
});
