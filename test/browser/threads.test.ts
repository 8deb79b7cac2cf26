import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { newName } from '../support/run/new-name.ts';
import { axeFaults } from './support/axe.ts';
import { report, type SeededCall, turn } from './support/calls.ts';
import { useBrowser } from './support/visit.ts';

const visit = useBrowser();
const project = 'page/threads';
const list = `threads?project=${encodeURIComponent(project)}`;
const link = (thread: string, linkedProject = project) =>
  `thread?project=${encodeURIComponent(linkedProject)}&thread=${thread}`;

const long: SeededCall[] = Array.from({ length: 35 }, (_, at) => ({
  id: `long-${at}`,
  thread: 'long',
  at: 100_000 + at * 1000,
  ms: 10 * (at + 1),
  inputs: { message: `Question ${at}` },
  output: `Answer ${at}`,
}));

beforeAll(async () => {
  await report(project, [...turn('t1', 0), ...turn('t2', 60_000)]);
  await report(project, long);
});

describe('the list of threads', () => {
  it('has their statistics, the last updated first, is sorted, searched, and gone through by keys', async () => {
    const page = await visit(list);
    await page.getByText('2 threads').waitFor();
    const names = () => page.locator('.threads tbody a').allInnerTexts();
    await page.getByRole('link', { name: 'Where is my order 4711?' }).waitFor();
    expect(await names()).toEqual(['Question 0', 'Where is my order 4711?']);
    await page.getByRole('row', { name: /thread-1 2 .* 900 ms 900 ms/ }).waitFor();
    await page.getByRole('button', { name: 'Turns', exact: true }).click();
    await page.getByRole('button', { name: 'Turns', exact: true }).click();
    await page.waitForURL(/sort=turn_count/);
    await page.locator('tbody tr').first().getByText('thread-1').waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('nothing');
    await page.keyboard.press('Enter');
    await page.getByText('No thread matches').waitFor();
    await page.getByRole('button', { name: 'Show all threads' }).click();
    await page.getByText('2 threads').waitFor();
    await page.locator('h1').click();
    for (const key of ['j', 'j', 'Enter']) await page.keyboard.press(key);
    await page.locator('.view-about').getByText('long', { exact: true }).waitFor();
  });
});

describe('a thread of the list', () => {
  const own = 'page/about-threads';
  const path = `threads?project=${encodeURIComponent(own)}`;

  it('says what it is about, by whom, and what it cost, and is found by what was said', async () => {
    const [root, ...steps] = turn('about', 0);
    const silent = { id: 'about', thread: 'silent', attributes: { user: { id: 'ada' } }, ms: root?.ms ?? 0 };
    const within = { id: 'inner', trace: 'about', parent: 'about', thread: 'inner', at: 20 };
    const other = { id: 'other', thread: 'other', inputs: { question: 'Is it raining?' }, output: 'No.' };
    await report(own, [silent, ...steps, within, other]);
    const page = await visit(path);
    await page
      .getByRole('row', { name: /^Select silent Where is my order 4711\? silent ada 1 1 <?\$0\.0\d+ / })
      .waitFor();
    await page.getByText('2 threads').waitFor();
    await page.getByRole('checkbox', { name: 'Nested (1)' }).check();
    await page.getByText('within silent').waitFor();
    await page.getByRole('checkbox', { name: 'Nested' }).uncheck();
    await page.getByRole('searchbox').fill('RAINING');
    await page.keyboard.press('Enter');
    await page.getByText('1 thread', { exact: true }).waitFor();
    await page.getByRole('link', { name: 'Is it raining?' }).waitFor();
    expect(page.url()).toContain('text=RAINING');
    const users = await visit(path);
    await users.getByRole('link', { name: 'ada' }).click();
    await users.getByText('End user is ada').waitFor();
    await users.locator('.row-link').waitFor();
    await users.goBack();
    await users.getByText('2 threads').waitFor();
    expect(await axeFaults(page)).toEqual({ light: [], dark: [], width: 360 });
  });
});

describe('whoever comes back to the threads', () => {
  it('finds the row of the keyboard and where they had scrolled to, with Back and Escape', async () => {
    const own = newName('page/many-threads');
    const calls = Array.from({ length: 60 }, (_, at) => ({ id: `m-${at}`, thread: `many-${at}`, at }));
    await report(own, calls);
    const page = await visit(`threads?project=${encodeURIComponent(own)}&sort=-start_time`);
    const stands = async () => {
      await page.locator('tr.active').getByText('many-20', { exact: true }).waitFor();
      return page.locator('.threads-scroll').evaluate((element) => element.scrollTop);
    };
    await page.getByText('60 threads').waitFor();
    for (let row = 0; row < 40; row++) await page.keyboard.press('j');
    const before = await stands();
    expect(before).toBeGreaterThan(0);
    for (const back of [() => page.goBack(), () => page.keyboard.press('Escape')]) {
      await page.keyboard.press('Enter');
      await page.locator('.view-about').getByText('many-20', { exact: true }).waitFor();
      await back();
      expect(await stands()).toBe(before);
    }
    expect(page.url()).toContain('sort=-start_time');
  });
});

describe('a thread beside the list', () => {
  const pane = (page: Page) => page.getByRole('complementary', { name: 'Thread beside the list' });
  const tracePane = (page: Page) => page.getByRole('complementary', { name: 'Trace beside the list' });
  const row = (page: Page, name: string) => page.locator('.thread-link', { hasText: name });

  it('opens with a click, leads to its traces and back, and a link has it', async () => {
    const page = await visit(list, { viewport: { width: 1440, height: 900 } });
    await row(page, 'Where is my order 4711?').click();
    await pane(page)
      .getByRole('article', { name: /^Turn 2/ })
      .waitFor();
    await page.waitForURL(/peek=thread-1/);
    await pane(page).getByRole('link', { name: 'tool.find_order' }).first().click();
    await tracePane(page).getByText('OrderNotFound: 4711').first().waitFor();
    await page.waitForURL(/peek=thread-1&trace=t1&call=t1-tool/);
    const other = await visit(page.url(), { viewport: { width: 1440, height: 900 } });
    await tracePane(other).getByText('OrderNotFound: 4711').first().waitFor();
    await tracePane(other).getByRole('button', { name: 'Back to the thread' }).click();
    await pane(other)
      .getByRole('article', { name: /^Turn 1/ })
      .waitFor();
    expect(other.url()).not.toContain('trace=');
    await pane(other).getByRole('link', { name: 'Open the thread' }).click();
    await other.locator('.view-about').getByText('thread-1', { exact: true }).waitFor();
    await other.goBack();
    await pane(other)
      .getByRole('article', { name: /^Turn 1/ })
      .waitFor();
  });

  it('goes on with the arrow keys, and closes step by step', async () => {
    const page = await visit(list, { viewport: { width: 1440, height: 900 } });
    await row(page, 'Question 0').waitFor();
    for (const key of ['j', 'p']) await page.keyboard.press(key);
    await pane(page).getByText('Answer 34', { exact: true }).waitFor();
    await page.keyboard.press('ArrowDown');
    await pane(page).getByText('It is on its way.').first().waitFor();
    await pane(page).getByRole('link', { name: 'Trace', exact: true }).first().click();
    await tracePane(page).getByRole('treeitem').first().waitFor();
    await page.keyboard.press('Escape');
    await pane(page).getByText('It is on its way.').first().waitFor();
    await page.keyboard.press('k');
    await pane(page).getByText('Answer 34', { exact: true }).waitFor();
    await page.keyboard.press('Escape');
    await pane(page).waitFor({ state: 'detached' });
    await page.locator('.thread-link:focus', { hasText: 'Question 0' }).waitFor();
    expect(page.url()).not.toContain('peek=');
    await page.keyboard.press('Enter');
    await page.locator('.view-about').getByText('long', { exact: true }).waitFor();
  });

  it('covers the list of a phone, and has no faults that axe knows', async () => {
    const page = await visit(list, { viewport: { width: 390, height: 844 } });
    await row(page, 'Where is my order 4711?').click();
    await pane(page)
      .getByRole('article', { name: /^Turn 2/ })
      .waitFor();
    expect((await pane(page).boundingBox())?.width).toBe(390);
    expect(await row(page, 'Question 0').isVisible()).toBe(false);
    expect(await axeFaults(page)).toEqual({ light: [], dark: [], width: 360 });
    await page.goBack();
    await row(page, 'Question 0').waitFor();
  });
});

describe('a turn that waited for a person', () => {
  const own = 'page/waited';

  it('shows what they said, what happened then, and the answer, as one turn', async () => {
    const wait = { summary: { waited_ms: 12_000 }, output: 'Move the hives to the clover?' };
    await report(own, [
      { id: 'asked', thread: 'bees', ms: 14_000, inputs: { question: 'Where?' }, output: 'On Friday.' },
      {
        id: 'ask',
        trace: 'asked',
        parent: 'asked',
        op: 'approve',
        at: 10,
        thread: 'bees',
        turn: 'asked',
        ...wait,
      },
      {
        id: 'resumed',
        op: 'apiary',
        at: 13_000,
        thread: 'bees',
        turn: 'asked',
        inputs: { messages: [{ role: 'user', content: 'yes, on Friday' }] },
        output: 'On Friday.',
      },
      {
        id: 'moved',
        trace: 'resumed',
        parent: 'resumed',
        op: 'move_hives',
        at: 13_010,
        thread: 'bees',
        turn: 'asked',
      },
    ]);
    const page = await visit(link('bees', own));
    const turns = page.locator('.turn');
    await turns.locator('.asked').getByText('yes, on Friday').waitFor();
    await turns.getByRole('link', { name: 'move_hives' }).waitFor();
    expect(await turns.count()).toBe(1);
    expect(await turns.locator('.asked').allInnerTexts()).toEqual([
      expect.stringContaining('Where?'),
      expect.stringContaining('yes, on Friday'),
    ]);
    expect(await turns.locator('.answered').innerText()).toContain('On Friday.');
    expect(await axeFaults(page)).toEqual({ light: [], dark: [], width: 360 });
  });
});

describe('a conversation', () => {
  it('shows what was said, the steps in between, and what each turn took, read once', async () => {
    const page = await visit(link('thread-1'));
    const asked: string[] = [];
    page.on('request', (request) => {
      if (request.method() === 'POST') asked.push(request.postData() ?? '');
    });
    const second = page.getByRole('article', { name: 'Turn 2: Turn t2' });
    await second.locator('.asked').getByText('Where is my order 4711?').waitFor();
    await second.locator('.answered').getByText('It is on its way.').waitFor();
    await second.getByText('3 steps · 1 error').waitFor();
    await second.getByText('300 tokens').waitFor();
    await second.getByText('4711', { exact: true }).waitFor();
    await second.getByText('OrderNotFound: 4711', { exact: true }).waitFor();
    await page.getByText('600 tokens').waitFor();
    await page.getByText('2 errors', { exact: true }).waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    expect(await second.evaluate((element) => element.matches(':focus'))).toBe(true);
    expect(new Set(asked).size).toBe(asked.length);
    await second.getByRole('link', { name: 'tool.find_order' }).click();
    await page.getByText('OrderNotFound: 4711').first().waitFor();
    await page.getByRole('link', { name: 'thread thread-1' }).waitFor({ state: 'detached' });
    await page.getByRole('treeitem').first().click();
    await page.getByRole('link', { name: 'thread thread-1' }).click();
    await second.waitFor();
    expect(await axeFaults(page)).toEqual({ light: [], dark: [], width: 360 });
  });

  it('shows the turns that failed alone, with their places', async () => {
    const own = newName('page/failed-turns');
    const makeAnswer = (at: number) => ({ id: `said-${at}`, thread: 'mixed', at, output: `Answer ${at}` });
    await report(own, [makeAnswer(0), { ...makeAnswer(1), exception: 'Boom' }, makeAnswer(2)]);
    const page = await visit(link('mixed', own));
    await page.getByText('Answer 2').waitFor();
    await page.getByRole('button', { name: '1 turn failed' }).click();
    await page.getByText('Answer 2').waitFor({ state: 'detached' });
    await page.getByRole('article', { name: 'Turn 2: agent.turn' }).getByText('Boom').waitFor();
    expect(page.url()).toContain('failed=true');
    await page.getByRole('button', { name: '1 turn failed' }).click();
    await page.getByText('Answer 2').waitFor();
  });

  it('finds what was said in the models of a turn that says nothing itself', async () => {
    const own = newName('page/silent-roots');
    const [root, ...steps] = turn('silent', 0);
    const silent = { id: 'silent', thread: 'thread-1', ms: root?.ms ?? 0 };
    await report(own, [silent, ...steps]);
    const page = await visit(link('thread-1', own));
    await page.locator('.asked').getByText('Where is my order 4711?').waitFor();
    await page.locator('.answered').getByText('It is on its way.').waitFor();
  });

  it('shows a step that was reported while its reader was elsewhere', async () => {
    const own = newName('page/late-step');
    const place = { trace: 'late', parent: 'late' };
    await report(own, [
      { id: 'late', thread: 'late', ms: 900 },
      { ...place, id: 'early' },
    ]);
    const page = await visit(link('late', own));
    await page.getByText('1 step', { exact: true }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByText('1 thread', { exact: true }).waitFor();
    await report(own, [{ ...place, id: 'step' }]);
    await page.goBack();
    await page.getByText('2 steps', { exact: true }).waitFor();
  });

  it('of many turns shows the last, and earlier ones when asked', async () => {
    const page = await visit(link('long'));
    await page.getByText('Answer 34').waitFor();
    expect(await page.getByText('Answer 19', { exact: true }).count()).toBe(0);
    await page.getByRole('button', { name: '20 earlier turns' }).click();
    await page.getByText('Answer 0', { exact: true }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByText('2 threads').waitFor();
    expect(await axeFaults(page)).toEqual({ light: [], dark: [], width: 360 });
  });

  it('that is not there says so', async () => {
    const page = await visit(link('nothing'));
    await page.getByText('This thread has no turns').waitFor();
  });
});
