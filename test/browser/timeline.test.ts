import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { runs } from '../support/run/sampling.ts';
import { axeFaults } from './support/axe.ts';
import { atPresent, chat, report, type SeededCall } from './support/calls.ts';
import { sendCapture } from './support/captures.ts';
import { useBrowser } from './support/visit.ts';

/* A trace over time, and as a graph of its agents, tools and models. */

const visit = useBrowser();
const project = 'page/timeline';
const link = (trace: string, search: string, of = project) =>
  `trace?project=${encodeURIComponent(of)}&trace=${encodeURIComponent(trace)}${search}`;

const agents = 40;
const steps = runs(2_000, 9_960);

/** Agents that work at the same time, one model request after the other. */
const crowd: SeededCall[] = [
  { id: 'crowd', name: 'Crowd', ms: steps * 10 },
  ...Array.from({ length: agents }, (_, at) => ({
    id: `agent-${at}`,
    trace: 'crowd',
    parent: 'crowd',
    op: `invoke_agent ${at}`,
    at: at * 5,
    ms: steps * 9,
    attributes: { kind: 'agent', agent: { name: `worker ${at}` } },
  })),
  ...Array.from({ length: steps }, (_, at) => ({
    id: `step-${at}`,
    trace: 'crowd',
    parent: `agent-${at % agents}`,
    op: `step.${at}`,
    at: at * 8 + 200,
    ms: 7,
    attributes: { kind: 'tool', tool: { name: `tool ${at % 20}` } },
  })),
];

const of = { trace: 'refund', parent: 'refund' };
const refund: SeededCall[] = [
  { id: 'refund', name: 'Refund', ms: 10_000, attributes: { kind: 'agent', agent: { name: 'triage' } } },
  {
    ...of,
    id: 'plan',
    op: 'chat gpt-4o-mini',
    at: 100,
    ms: 1900,
    attributes: { kind: 'model' },
    ...chat([{ role: 'user', content: 'Refund it.' }], { content: 'I ask.' }),
  },
  {
    ...of,
    id: 'approve',
    op: 'execute_tool approve',
    at: 2000,
    ms: 6000,
    attributes: { kind: 'tool', tool: { name: 'approve' } },
    summary: { waited_ms: 5000 },
  },
  {
    ...of,
    id: 'cashier',
    op: 'invoke_agent cashier',
    at: 8000,
    ms: 1900,
    attributes: { kind: 'agent', agent: { name: 'cashier' } },
  },
  {
    ...of,
    parent: 'cashier',
    id: 'pay',
    op: 'execute_tool pay',
    at: 8100,
    ms: 1000,
    attributes: { kind: 'tool', tool: { name: 'pay' } },
    exception: 'Declined: 4711',
  },
];

beforeAll(async () => {
  await report(project, refund);
  for (let at = 0; at < crowd.length; at += 500) await report(project, crowd.slice(at, at + 500));
});

const heading = (page: Page, name: string) => page.getByRole('heading', { name, level: 2 }).waitFor();

const onlyOf = (page: Page) => new URL(page.url()).searchParams.get('only');

/** Where a moment of the timeline is, as a share of its width, and a row, in pixels from the top of its lanes. */
const clickAt = async (page: Page, share: number, y: number) => {
  const box = await page.locator('.timeline-scroll').boundingBox();
  if (!box) throw new Error('there is no timeline');
  await page.mouse.click(box.x + share * box.width, box.y + y);
};

/** The share of the trace that is in sight. */
const inSight = (page: Page): Promise<number> =>
  page.evaluate<number>(`(() => {
    const frame = document.querySelector('.timeline-frame').getBoundingClientRect();
    return frame.width / document.querySelector('.timeline-overview').clientWidth;
  })()`);

const wholeInSight = (page: Page) => expect.poll(() => inSight(page)).toBeCloseTo(1, 1);

describe('the timeline of a trace', () => {
  it('has a lane for each agent, whose bars lead to their calls', async () => {
    const page = await visit(link('refund', ''));
    await page.getByRole('button', { name: 'Timeline', exact: true }).click();
    const timeline = page.getByRole('tree', { name: 'Calls over time' });
    await timeline.getByRole('treeitem', { name: /^Refund, agent, agent triage, / }).waitFor();
    expect(page.url()).toContain('as=timeline');
    await page.getByText('waits for a person').first().waitFor();
    // The axis, the name of the first lane, and its second row.
    await clickAt(page, 0.5, 22 + 22 + 20 + 8);
    await heading(page, 'approve');
    await timeline
      .getByRole('treeitem', { name: /^approve, tool, .* 5.0+ s of it waiting, on the critical path$/ })
      .waitFor();
    expect(page.url()).toContain('call=approve');
    expect(await axeFaults(page)).toEqual({ light: [], dark: [], width: 360 });
  });

  it('goes from call to call by the keys of the tree', async () => {
    const page = await visit(link('refund', '&as=timeline'));
    await page.getByRole('treeitem', { name: /^Refund/ }).waitFor();
    const steps = [
      ['ArrowDown', 'chat gpt-4o-mini'],
      ['End', 'pay'],
      ['ArrowLeft', 'cashier'],
      ['ArrowRight', 'pay'],
      ['ArrowUp', 'cashier'],
      ['Home', 'Refund'],
      ['e', 'pay'],
    ] as const;
    for (const [pressed, name] of steps) {
      await page.keyboard.press(pressed);
      await heading(page, name);
    }
  });

  it('is looked at closer by keys, by the wheel and by its overview, and is dragged along', async () => {
    const page = await visit(link('refund', '&as=timeline'));
    await page.getByRole('treeitem', { name: /^Refund/ }).waitFor();
    await wholeInSight(page);
    await page.keyboard.press('w');
    await expect.poll(() => inSight(page)).toBeCloseTo(0.75, 1);
    await page.keyboard.press('0');
    await wholeInSight(page);
    const box = (await page.locator('.timeline-scroll').boundingBox()) ?? expect.fail('no timeline');
    await page.mouse.move(box.x + box.width / 2, box.y + 60);
    await page.keyboard.down('Control');
    for (let turn = 0; turn < 60; turn++) await page.mouse.wheel(0, -100);
    await page.keyboard.up('Control');
    // A millisecond of ten seconds is less than a pixel, which the frame has at least.
    await expect.poll(() => inSight(page)).toBeLessThan(0.02);
    await page.keyboard.press('f');
    await wholeInSight(page);
    await page.keyboard.press('w');
    await page.keyboard.press('w');
    await expect.poll(() => inSight(page)).toBeLessThan(0.6);
    const left = () =>
      page.evaluate<number>(`document.querySelector('.timeline-frame').getBoundingClientRect().left`);
    const before = await left();
    await page.mouse.down();
    await page.mouse.move(box.x + box.width / 4, box.y + 60, { steps: 4 });
    await page.mouse.up();
    await expect.poll(left).toBeGreaterThan(before + 10);
    await page.locator('.timeline-overview').click({ position: { x: 4, y: 10 } });
    await expect.poll(left).toBeLessThan(before);
    // Nothing of this was a click on a call.
    expect(new URL(page.url()).searchParams.get('call')).toBeNull();
  });

  it('is looked at closer by two fingers, which need not lie beside each other', async () => {
    const page = await visit(link('refund', '&as=timeline'), { viewport: { width: 390, height: 844 } });
    await page.getByRole('treeitem', { name: /^Refund/ }).waitFor({ state: 'attached' });
    await wholeInSight(page);
    const box = (await page.locator('.timeline-scroll').boundingBox()) ?? expect.fail('no timeline');
    const device = await page.context().newCDPSession(page);
    const middle = { x: box.x + box.width / 2, y: box.y + 90 };
    const touch = (type: 'touchStart' | 'touchMove' | 'touchEnd', apart?: readonly [x: number, y: number]) =>
      device.send('Input.dispatchTouchEvent', {
        type,
        touchPoints: apart
          ? [1, -1].map((side, id) => ({
              id,
              x: middle.x + (side * apart[0]) / 2,
              y: middle.y + (side * apart[1]) / 2,
            }))
          : [],
      });
    await touch('touchStart', [40, 30]);
    for (const by of [1.5, 2, 3, 4]) await touch('touchMove', [40 * by, 30 * by]);
    await touch('touchEnd');
    await expect.poll(() => inSight(page)).toBeCloseTo(0.25, 1);
    await touch('touchStart', [160, 20]);
    for (const by of [0.8, 0.6, 0.4]) await touch('touchMove', [160 * by, 20 * by]);
    await touch('touchEnd');
    await expect.poll(() => inSight(page)).toBeCloseTo(0.62, 1);
    // The page itself stays as it is, and nothing of this was a tap on a call.
    expect(await page.evaluate<number>('visualViewport.scale')).toBe(1);
    expect(new URL(page.url()).searchParams.get('call')).toBeNull();
  });

  it('has the window that its link has, whatever else that has selected, and keeps it there', async () => {
    const windowOf = (url: string) => new URL(url).searchParams.get('window');
    const page = await visit(link('refund', '&as=timeline&window=8100-9100&call=plan'));
    await page.getByRole('treeitem', { name: /^chat/, selected: true }).waitFor();
    await expect.poll(() => inSight(page)).toBeCloseTo(0.1, 2);
    expect(windowOf(page.url())).toBe('8100-9100');
    const pages = await page.evaluate<number>('history.length');
    await page.keyboard.press('w');
    await expect.poll(() => windowOf(page.url())).toBe('8225-8975');
    // A call that is chosen comes into sight.
    await page.keyboard.press('Home');
    await page.keyboard.press('ArrowDown');
    await heading(page, 'chat gpt-4o-mini');
    await expect.poll(() => windowOf(page.url())).toBe('675-1425');
    const other = await visit(page.url());
    await other.getByRole('treeitem', { name: /^chat/, selected: true }).waitFor();
    await expect.poll(() => inSight(other)).toBeCloseTo(0.075, 2);
    await page.getByRole('button', { name: 'Graph', exact: true }).click();
    await page.locator('.graph-node').first().waitFor();
    await page.getByRole('button', { name: 'Timeline', exact: true }).click();
    await expect.poll(() => inSight(page)).toBeCloseTo(0.075, 2);
    await page.keyboard.press('0');
    await expect.poll(() => windowOf(page.url())).toBeNull();
    expect(await page.evaluate<number>('history.length')).toBe(pages);
  });

  it('of a call that runs grows with it', async () => {
    const own = 'page/timeline-grows';
    const started = { id: 'grows', at: atPresent() - 20_000, ms: null } as const;
    await report(own, [started, { id: 'first', trace: 'grows', parent: 'grows', at: started.at, ms: 9000 }]);
    const page = await visit(link('grows', '&as=timeline', own));
    await page.getByRole('treeitem').first().waitFor();
    await wholeInSight(page);
    await report(own, [
      { id: 'later', trace: 'grows', parent: 'grows', at: started.at + 15_000, ms: 1_000_000 },
    ]);
    await page.getByText('3 calls').waitFor();
    await wholeInSight(page);
  });

  it('tells what is under the pointer', async () => {
    const page = await visit(link('refund', '&as=timeline'));
    await page.getByRole('treeitem', { name: /^Refund/ }).waitFor();
    const box = (await page.locator('.timeline-scroll').boundingBox()) ?? expect.fail('no timeline');
    await page.mouse.move(box.x + box.width / 2, box.y + 72);
    const tip = page.locator('.timeline-tip');
    await tip.getByText('approve').waitFor();
    expect(await tip.innerText()).toContain('6.00 s, 5.00 s of it waiting');
    await page.mouse.move(box.x + box.width / 2, box.y + box.height - 4);
    await tip.waitFor({ state: 'detached' });
  });

  it(`of ${agents} agents with ${steps} calls draws what is in sight, and goes to any of them`, async () => {
    const page = await visit(link('crowd', '&as=timeline&call=step-1999'));
    await page.getByRole('treeitem', { name: /^tool 19, tool, agent worker 39/, selected: true }).waitFor();
    // The lane of the last agent is far down.
    await expect
      .poll(() => page.locator('.timeline-scroll').evaluate((host) => host.scrollTop))
      .toBeGreaterThan(300);
    expect(await page.evaluate<number>('document.querySelectorAll("*").length')).toBeLessThan(1000);
  });
});

describe('the graph of a trace', () => {
  it('has agents, tools and models, and shows the calls of the one that is chosen', async () => {
    const page = await visit(link('refund', '&as=graph'));
    const triage = page.getByRole('button', { name: /triage.*3 calls.*It calls / });
    await triage.waitFor();
    expect(await triage.textContent()).toContain('calls agent cashier 1×');
    const tool = page.getByRole('button', { name: /pay.*1 call · 1 error/ });
    await tool.focus();
    await page.keyboard.press('Enter');
    await page.getByRole('list', { name: 'Filters' }).getByText('tool pay').waitFor();
    expect(onlyOf(page)).toBe('tool:pay');
    expect(await tool.getAttribute('aria-pressed')).toBe('true');
    await page.getByRole('button', { name: 'Tree', exact: true }).click();
    await page.getByRole('treeitem', { name: /pay/ }).waitFor();
    expect(await page.getByRole('treeitem').count()).toBe(3);
    await page.getByRole('button', { name: 'Timeline', exact: true }).click();
    await page.keyboard.press('End');
    await heading(page, 'pay');
    await page.getByRole('button', { name: 'Remove the filter tool pay' }).click();
    await page.getByRole('button', { name: 'Tree', exact: true }).click();
    await page.getByRole('treeitem', { name: /approve/ }).waitFor();
    expect(onlyOf(page)).toBeNull();
    await page.getByRole('button', { name: 'Graph', exact: true }).click();
    await triage.waitFor();
    expect(await axeFaults(page)).toEqual({ light: [], dark: [], width: 360 });
  });

  it('says that a part of a link is none of this trace', async () => {
    const page = await visit(link('refund', '&only=tool%3Anothing'));
    await page.getByText('No call of this trace is of tool nothing.').waitFor();
  });
});

describe('what agents exported', () => {
  it.each([
    ['google-adk-multi-agent', 'calls agent translator'],
    ['openai-agents-handoff', 'hands over to'],
    ['claude-code-background-agent', 'model'],
    ['langgraph-interrupt-resume', 'calls'],
  ])('of %s is a timeline and a graph', async (name, sign) => {
    const own = `page/${name}`;
    const trace = await sendCapture(name, own);
    const page = await visit(link(trace, '&as=timeline', own));
    await page.getByRole('treeitem').first().waitFor({ state: 'attached' });
    await page.getByRole('button', { name: 'Graph', exact: true }).click();
    await page.locator('.graph-node').first().waitFor();
    expect(await page.locator('.graph').textContent()).toContain(sign);
  });
});
