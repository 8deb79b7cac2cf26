import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { runs } from '../support/run/sampling.ts';
import { axeFaults } from './support/axe.ts';
import { post, report, type SeededCall, turn } from './support/calls.ts';
import { key, url, useBrowser } from './support/visit.ts';

const visit = useBrowser();
const project = 'page/trace';
const link = (trace: string, search = '') =>
  `trace?project=${encodeURIComponent(project)}&trace=${encodeURIComponent(trace)}${search}`;

/** Many more than fit on the screen. */
const steps = runs(500, 1500);
const wide: SeededCall[] = [
  { id: 'wide', name: 'Wide', ms: 60_000 },
  ...Array.from({ length: steps }, (_, at) => ({
    id: `wide-${at}`,
    trace: 'wide',
    parent: 'wide',
    op: `step.${at}`,
    at: at * 10,
    ms: 10,
  })),
];

const photo =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';

/** A model call in Anthropic's shape, with an image and Markdown. */
const illustrated: SeededCall = {
  id: 'illustrated',
  op: 'anthropic.messages.create',
  inputs: {
    model: 'claude-haiku-4-5',
    system: 'Be brief.',
    messages: [
      {
        role: 'user',
        content: [
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: photo } },
          { type: 'text', text: 'What is it?' },
        ],
      },
    ],
  },
  output: {
    role: 'assistant',
    content: [{ type: 'text', text: '**A point.** See [more](https://example.com).\n\n| a |\n| - |\n| 1 |' }],
  },
};

/** A model call whose messages say what they say beside their content. */
const withoutContent: SeededCall = {
  id: 'without-content',
  op: 'openai.chat',
  inputs: {
    model: 'deepseek-chat',
    messages: [
      {
        role: 'user',
        parts: [{ type: 'blob', modality: 'image', mime_type: 'image/png', content: photo }],
      },
      { role: 'assistant', content: null, function_call: { name: 'look_up', arguments: '{"order":4711}' } },
    ],
  },
  output: {
    role: 'assistant',
    content: null,
    reasoning_content: 'The order is not theirs.',
    refusal: 'I cannot tell you.',
  },
};

const makeMessage = (role: string, content: string) => ({ role, content });

/** An agent's two model calls, with those of another agent between them. */
const delegated: SeededCall[] = [
  { id: 'agents' },
  ...[
    {
      id: 'main-1',
      parent: 'agents',
      messages: [makeMessage('system', 'Plan.'), makeMessage('user', 'Why?')],
    },
    { id: 'researcher', parent: 'agents' },
    {
      id: 'sub-1',
      parent: 'researcher',
      messages: [makeMessage('system', 'Search.'), makeMessage('user', 'It.')],
    },
    {
      id: 'main-2',
      parent: 'agents',
      messages: [
        makeMessage('system', 'Plan.'),
        makeMessage('user', 'Why?'),
        makeMessage('user', 'Found it.'),
      ],
    },
    { id: 'step', parent: 'agents' },
    {
      id: 'main-3',
      parent: 'step',
      messages: [makeMessage('system', 'Search.'), makeMessage('user', 'More.')],
    },
  ].map(({ messages, ...call }, at) => ({
    ...call,
    trace: 'agents',
    at: (at + 1) * 10,
    ...(messages && { op: 'openai.chat', inputs: { model: 'gpt-4o', messages } }),
  })),
];

/** Two turns of a conversation, each of which sends all that was said before. */
const talk: SeededCall[] = [
  [makeMessage('system', 'Plan.'), makeMessage('user', 'Why?')],
  [
    makeMessage('system', 'Plan.'),
    makeMessage('user', 'Why?'),
    makeMessage('assistant', 'So.'),
    makeMessage('user', 'And then?'),
  ],
].flatMap((messages, at) => {
  const trace = `talk-${at + 1}`;
  const model = {
    op: 'openai.chat',
    inputs: { model: 'gpt-4o', messages },
    output: makeMessage('assistant', 'So.'),
  };
  return [
    { id: trace, thread: 'talk', at: at * 1000 },
    { ...model, id: `${trace}-model`, trace, parent: trace, at: at * 1000 + 10 },
  ];
});

/** A session of a coding agent: what it read, changed and ran. */
const coding: SeededCall[] = [
  { id: 'coding', inputs: { question: 'Mend it' }, output: { state: 'mended', files: 1 } },
  ...[
    {
      op: 'Read',
      inputs: { file_path: '/src/add.ts' },
      output: Array.from({ length: 30 }, (_, at) => `${at + 40}\tconst line${at} = "${at}";`).join('\n'),
    },
    {
      op: 'Edit',
      inputs: { file_path: '/src/add.ts', old_string: 'return a - b;', new_string: 'return a + b;' },
      output: 'The file was updated.',
    },
    {
      op: 'Bash',
      inputs: { command: 'npm test', description: 'Run the tests' },
      output: { stdout: 'ok 1\n  ok 2\n', code: 0 },
    },
    {
      op: 'TodoWrite',
      inputs: { todos: [{ content: 'Write a test', status: 'completed' }] },
      output: 'Noted.',
    },
  ].map((call, at) => ({
    ...call,
    id: `coding-${call.op}`,
    trace: 'coding',
    parent: 'coding',
    at: at + 1,
    ms: 1,
    attributes: { kind: 'tool' },
  })),
];

beforeAll(async () => {
  await report(project, coding);
  await report(project, turn('t1', 0));
  await report(project, [illustrated, withoutContent, ...delegated, ...talk]);
  await report(project, wide);
  await post('/feedback/create', {
    project_id: project,
    feedback_type: 'thumbs',
    svc_ref: `svc:///${project}/call/t1`,
    payload: { up: true, note: 'Well done' },
    creator: 'Ada',
  });
});

const selected = (page: Page, name: string) =>
  page.locator('[role=treeitem][aria-selected=true]').getByText(name).waitFor();

/** What is said of the selected call, and not in the tree. */
const pane = (page: Page) => page.getByRole('region', { name: 'Selected call' });

describe('a link to a call', () => {
  it('leads to it in its trace, and says so where there is none', async () => {
    const at = `call?project=${encodeURIComponent(project)}&call=`;
    const page = await visit(`${at}t1-tool`);
    await selected(page, 'tool.find_order');
    expect(new URL(page.url()).searchParams.get('trace')).toBe('t1');
    await (await visit(`${at}none`)).getByText('This call does not exist').waitFor();
  });
});

describe('a trace', () => {
  it('is a tree with timeline, latency, tokens and errors', async () => {
    const page = await visit(link('t1'));
    await page.getByRole('heading', { name: 'Turn t1', level: 1 }).waitFor();
    expect(await page.getByRole('treeitem').count()).toBe(4);
    await page.getByRole('treeitem').first().getByText('300 tok').waitFor({ state: 'attached' });
    await page.getByText('1 error').waitFor();
    const tool = page.getByRole('treeitem').filter({ hasText: 'tool.find_order' });
    await tool.getByText('OrderNotFound: 4711').waitFor();
    await tool.getByText('4711', { exact: true }).waitFor();
    await tool.getByRole('img', { name: 'tool' }).waitFor();
    await page.locator('.view-head').getByText('900 ms').waitFor();
    await page.getByRole('checkbox', { name: 'Own', exact: true }).check();
    await page.getByRole('treeitem').first().getByText('120 ms').waitFor();
    expect(await page.getByRole('treeitem').first().getByText('300 tok').count()).toBe(0);
  });

  it('names the models in its rows, and has no bar too narrow to see', async () => {
    const page = await visit(link('t1'));
    const tree = page.getByRole('region', { name: 'Tree' });
    await tree.getByTitle('model gpt-4o-mini').first().waitFor();
    const share = async (region: string) =>
      (await page.getByRole('region', { name: region, exact: true }).boundingBox())?.width ?? 0;
    const ofTree = await share('Tree');
    const ofCall = await share('Selected call');
    expect(ofTree / (ofTree + ofCall)).toBeCloseTo(0.38, 1);
    const wideTrace = await visit(link('wide'));
    await selected(wideTrace, 'Wide');
    await wideTrace.keyboard.press('End');
    await selected(wideTrace, `step.${steps - 1}`);
    const bars = await wideTrace.locator('.lane').evaluateAll((lanes) =>
      lanes.map((lane) => {
        const bar = lane.firstElementChild?.getBoundingClientRect();
        return bar && bar.width >= 3 && bar.right <= lane.getBoundingClientRect().right + 0.5;
      }),
    );
    expect(bars.length).toBeGreaterThan(0);
    expect(bars.every((isSeen) => isSeen)).toBe(true);
  });

  it('goes to what an error says from any tab but the data', async () => {
    const page = await visit(`${link('t1')}&tab=usage`);
    await pane(page).getByRole('tab', { name: 'Usage', selected: true }).waitFor();
    await page.getByRole('button', { name: 'Next error' }).last().click();
    await selected(page, 'tool.find_order');
    await pane(page).getByRole('tab', { name: 'Error', selected: true }).waitFor();
    await pane(page).getByRole('tab', { name: 'Data' }).click();
    await page.keyboard.press('e');
    await pane(page).getByRole('tab', { name: 'Data', selected: true }).waitFor();
  });

  it('is gone through by keyboard alone', async () => {
    const page = await visit(link('t1'));
    await selected(page, 'Turn t1');
    await page.keyboard.press('j');
    await selected(page, 'model.chat');
    await page.keyboard.press('ArrowLeft');
    await selected(page, 'Turn t1');
    await page.keyboard.press('ArrowLeft');
    await expect.poll(() => page.getByRole('treeitem').count()).toBe(1);
    await page.keyboard.press('e');
    await selected(page, 'tool.find_order');
    await pane(page).getByText('OrderNotFound: 4711').waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('chat');
    await page.getByText('2 found').waitFor();
    await page.keyboard.press('Enter');
    await selected(page, 'model.chat');
    await page.keyboard.press('Escape');
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keyboard' }).waitFor();
  });

  it('takes keys after a click on a tab, and leads back to the list by one Escape', async () => {
    const page = await visit(link('t1', '&call=t1-model-1'));
    await page.getByRole('tab', { name: 'Usage' }).click();
    await page.keyboard.press('j');
    await selected(page, 'tool.find_order');
    await page.getByRole('tab', { name: 'Data' }).click();
    await page.keyboard.press('Escape');
    await page.getByRole('tree').and(page.locator(':focus')).waitFor();
    await page.reload();
    await selected(page, 'tool.find_order');
    await page.keyboard.press('Escape');
    await page.getByRole('link', { name: 'Turn t1' }).waitFor();
  });

  it('is searched by what its calls say, too', async () => {
    const page = await visit(link('t1'));
    await page.getByRole('searchbox', { name: 'Search in the tree' }).fill('on its WAY');
    await page.getByText('2 found').waitFor();
    await page.keyboard.press('Enter');
    await selected(page, 'model.chat');
  });

  it('marks what the list was searched for where it stands, also in what is folded', async () => {
    const find = encodeURIComponent('line25 =');
    const page = await visit(`traces?project=${encodeURIComponent(project)}&all=true&text=${find}`);
    await page.getByRole('link', { name: /^Read/ }).press('Enter');
    await pane(page).locator('.code-line', { hasText: 'line25 =' }).waitFor();
    await page.getByText('1 found').waitFor();
    expect(page.url()).toContain('find=line25');
    await page.getByRole('searchbox', { name: 'Search in the tree' }).fill('line25');
    const marked = () =>
      page.evaluate<string[]>("[...(CSS.highlights.get('sought') ?? [])].map((range) => range.toString())");
    await expect.poll(marked).toEqual(['line25']);
    await page.getByRole('searchbox', { name: 'Search in the tree' }).fill('Read');
    await expect.poll(async () => (await marked()).length).toBeGreaterThan(1);
    await page.getByRole('searchbox', { name: 'Search in the tree' }).fill('');
    await expect.poll(marked).toEqual([]);
  });

  it(`of ${steps} calls has few of them in the document, and scrolls to its end`, async () => {
    const page = await visit(link('wide'));
    await page.getByText(`${(steps + 1).toLocaleString('en-US')} calls`).waitFor();
    await page.keyboard.press('End');
    await selected(page, `step.${steps - 1}`);
    expect(await page.getByRole('treeitem').count()).toBeLessThan(80);
  });

  it('that is not there says so', async () => {
    const page = await visit(link('nothing'));
    await page.getByText('This trace does not exist').waitFor();
    await page.getByRole('link', { name: 'All traces' }).click();
    await page.getByRole('link', { name: 'Turn t1' }).waitFor();
  });
});

describe('the story of a trace', () => {
  it('is a text in which everything is said once, and leads to each call', async () => {
    const page = await visit(link('t1'));
    await selected(page, 'Turn t1');
    await page.keyboard.press('t');
    const story = page.getByRole('region', { name: 'Story', exact: true });
    await story.getByText('It is on its way.').waitFor();
    const text = await story.innerText();
    for (const shownText of [
      'Where is my order 4711?',
      'It is on its way.',
      'order: "4711"',
      'OrderNotFound: 4711',
    ])
      expect(text.split(shownText).length, shownText).toBe(2);
    expect(page.url()).toContain('story=true');
    await story.getByRole('button', { name: 'tool.find_order' }).click();
    await page.getByRole('heading', { name: 'tool.find_order', level: 2 }).waitFor();
    await page.keyboard.press('k');
    await page.getByRole('heading', { name: 'model.chat', level: 2 }).waitFor();
    await page.locator('.call-head').getByText('gpt-4o-mini').waitFor();
    expect(await axeFaults(page)).toEqual({ light: [], dark: [], width: 360 });
  });

  it(`of ${steps} calls has few of them in the document, and reads what is in sight`, async () => {
    const page = await visit(link('wide', '&story=true'));
    await page.getByRole('article', { name: 'step.3', exact: true }).waitFor();
    const asked: number[] = [];
    page.on('request', (request) => {
      const { filter } = request.postDataJSON() ?? {};
      if (filter?.call_ids) asked.push(filter.call_ids.length);
    });
    await page.keyboard.press('End');
    await page.getByRole('article', { name: `step.${steps - 1}`, exact: true }).waitFor();
    expect(await page.getByRole('article').count()).toBeLessThan(80);
    expect(asked.reduce((sum, count) => sum + count, 0)).toBeLessThan(200);
  });
});

describe('the way around a trace', () => {
  it('leads to the next and the previous trace of the list, and back to the list', async () => {
    const own = 'page/neighbours';
    await report(
      own,
      [1, 2, 3].map((at) => ({ id: `n${at}`, name: `Trace ${at}`, at })),
    );
    const page = await visit(`traces?project=${encodeURIComponent(own)}&sort=started_at`);
    await page.getByRole('link', { name: 'Trace 2' }).press('Enter');
    const shows = (name: string) => page.getByRole('heading', { name, level: 1 }).waitFor();
    await shows('Trace 2');
    await page.getByRole('button', { name: 'Next trace of the list' }).click();
    await shows('Trace 3');
    await page.keyboard.press('Shift+K');
    await shows('Trace 2');
    await page.keyboard.press('Shift+K');
    await shows('Trace 1');
    await page.getByRole('navigation', { name: 'Breadcrumb' }).getByRole('link', { name: 'Traces' }).click();
    await page.locator('.active').getByText('Trace 1').waitFor();
    expect(page.url()).toContain('sort=started_at');
  });

  it('divides tree and call by a splitter, and remembers how', async () => {
    const page = await visit(link('t1'));
    const tree = page.getByRole('region', { name: 'Tree' });
    const width = async () => (await tree.boundingBox())?.width ?? 0;
    const before = await width();
    const splitter = page.getByRole('separator', { name: 'Width of the tree' });
    for (let times = 0; times < 5; times++) await splitter.press('ArrowRight');
    const wider = await width();
    expect(wider).toBeGreaterThan(before + 50);
    await page.reload();
    await selected(page, 'Turn t1');
    expect(await width()).toBeCloseTo(wider, 0);
  });
});

describe('the selected call', () => {
  it('shows its messages, and folds away what an earlier call had sent', async () => {
    const page = await visit(link('t1', '&call=t1-model-2'));
    const fold = page.getByRole('button', { name: '2 messages from an earlier call' });
    await fold.waitFor();
    expect(await pane(page).getByText('You are the support of a shop.').count()).toBe(0);
    await page.getByText('result of find_order c1').waitFor();
    await page.getByRole('heading', { name: 'Answer' }).waitFor();
    await fold.click();
    await pane(page).getByText('You are the support of a shop.').waitFor();
  });

  it('finds what it goes on from, also behind another agent', async () => {
    const page = await visit(link('agents', '&call=main-2'));
    await page.getByRole('button', { name: '2 messages from an earlier call' }).waitFor();
    await pane(page).getByText('Found it.').waitFor();
    await page.getByRole('treeitem').last().click();
    await page.getByRole('button', { name: '1 message from an earlier call' }).waitFor();
  });

  it('folds away what an earlier turn of its thread had sent', async () => {
    const page = await visit(link('talk-2', '&call=talk-2-model'));
    await page.getByRole('button', { name: '3 messages from an earlier call' }).waitFor();
    await pane(page).getByText('And then?').waitFor();
  });

  it('shows images and Markdown, and the text as it came if one wants', async () => {
    const page = await visit(link('illustrated'));
    await page.getByRole('img', { name: 'In the message' }).waitFor();
    await page.locator('strong').getByText('A point.').waitFor();
    await page.getByRole('cell', { name: '1' }).waitFor();
    expect(await page.getByRole('link', { name: 'more' }).getAttribute('rel')).toBe('noopener noreferrer');
    await page.getByRole('checkbox', { name: 'Markdown' }).uncheck();
    await pane(page).getByText('**A point.**').waitFor();
    expect(page.url()).toContain('plain=true');
  });

  it('shows what messages without content say', async () => {
    const page = await visit(link('without-content'));
    await page.getByRole('img', { name: 'In the message' }).waitFor();
    await page.getByText('calls look_up').waitFor();
    await pane(page).getByText('I cannot tell you.').waitFor();
    await page.getByText('Thinking').click();
    await pane(page).getByText('The order is not theirs.').waitFor();
    expect(await page.getByText('empty', { exact: true }).count()).toBe(0);
  });

  it('shows code with its numbers and colors, an edit as a diff, commands and tasks', async () => {
    const page = await visit(link('coding', '&call=coding-Read'));
    const line = pane(page).locator('.code-line');
    await line.locator('.hljs-keyword').first().waitFor();
    expect(await line.count()).toBe(12);
    expect(await line.first().getAttribute('data-at')).toBe('40');
    await pane(page).getByRole('button', { name: '18 more lines' }).click();
    expect(await line.count()).toBe(30);
    await page.getByRole('treeitem').nth(2).click();
    await pane(page).getByRole('region', { name: 'Edit' }).getByText('removed:').waitFor();
    await page.getByRole('treeitem').nth(3).click();
    const command = pane(page).locator('.code-line', { hasText: 'npm test' });
    expect(await command.getAttribute('data-at')).toBe('$');
    await pane(page).getByText('Run the tests').waitFor();
    await page.getByRole('treeitem').nth(4).click();
    await pane(page).getByRole('listitem').getByRole('img', { name: 'done' }).waitFor();
    await page.getByRole('checkbox', { name: 'Markdown' }).uncheck();
    await pane(page).locator('.tasks').waitFor({ state: 'detached' });
    await pane(page).getByText('todos').waitFor();
  });

  it('shows an output that is no text, beside a question that is', async () => {
    const page = await visit(link('coding'));
    await page.getByRole('tab', { name: 'Messages', selected: true }).waitFor();
    await pane(page).getByText('Mend it').waitFor();
    await pane(page).getByText('"mended"').waitFor();
  });

  it('shows its data as a tree that can be searched, and filters the list by a value', async () => {
    const page = await visit(link('t1', '&call=t1-model-1&tab=data'));
    await page.getByRole('searchbox', { name: 'Search in inputs' }).fill('4711');
    await page.getByText('1 found').waitFor();
    await page.getByRole('searchbox', { name: 'Search in inputs' }).fill('');
    await page.getByRole('button', { name: 'Value of inputs.model' }).click();
    await page.getByRole('menuitem', { name: 'Filter by this value' }).click();
    await page.getByText('Model is gpt-4o-mini').waitFor();
    await page.getByText('2 rows').waitFor();
  });

  it('shows usage, feedback and the error with its stack', async () => {
    const page = await visit(link('t1', '&call=t1-model-1'));
    await page.getByRole('tab', { name: 'Usage' }).click();
    await page.getByRole('cell', { name: 'gpt-4o-mini' }).waitFor();
    await page.getByRole('cell', { name: '120' }).waitFor();
    await page.getByRole('treeitem').first().click();
    await page.getByRole('tab', { name: 'Feedback 1' }).click();
    await page.getByText('Well done').waitFor();
    await page.getByRole('treeitem').nth(2).click();
    await page.getByRole('tab', { name: 'Error' }).click();
    await page.getByText('at findOrder (orders.ts:17)').waitFor();
  });

  it('is read once, whatever one looks at', async () => {
    const page = await visit(link('t1'));
    const asked: string[] = [];
    page.on('request', (request) => {
      if (request.url().endsWith('/call/read')) asked.push(request.postDataJSON().id);
    });
    await selected(page, 'Turn t1');
    for (const at of [1, 0, 1, 2, 1]) {
      await page.getByRole('treeitem').nth(at).click();
      await page.getByRole('tab').first().waitFor();
    }
    expect(asked.length).toBe(new Set(asked).size);
  });
});

describe('files of calls', () => {
  const wav = Buffer.from('RIFF\u0000\u0000\u0000\u0000WAVEfmt ').toString('base64');
  const pdf = Buffer.from('%PDF-1.7\n%%EOF').toString('base64');
  const own = 'page/files';
  beforeAll(async () => {
    const form = new FormData();
    form.set('project_id', own);
    form.set('file', new Blob(['col\n1\n']), 'rows.csv');
    const headers = { authorization: `Basic ${Buffer.from(`api:${key}`).toString('base64')}` };
    const stored = await fetch(`${url}/file/create`, { method: 'POST', headers, body: form });
    const { digest } = (await stored.json()) as { digest: string };
    await report(own, [
      {
        id: 'files',
        op: 'openai.chat',
        inputs: {
          model: 'gpt-4o-audio',
          messages: [
            {
              role: 'user',
              content: [
                { type: 'input_audio', input_audio: { data: wav, format: 'wav' } },
                {
                  type: 'file',
                  file: { filename: 'terms.pdf', file_data: `data:application/pdf;base64,${pdf}` },
                },
                { type: 'file', file: { filename: 'x.html', file_data: `data:text/html;base64,${pdf}` } },
                { type: 'input_file', filename: 'far.pdf', file_url: 'https://example.com/far.pdf' },
              ],
            },
          ],
        },
        output: { role: 'assistant', content: null, audio: { data: wav, transcript: 'It says hello.' } },
      },
      {
        id: 'stored',
        trace: 'files',
        parent: 'files',
        at: 10,
        op: 'tool.read',
        attributes: { kind: 'tool' },
        inputs: {
          rows: {
            _type: 'CustomWeaveType',
            weave_type: { type: 'weave.type_wrappers.Content.content.Content' },
            files: { 'rows.csv': digest },
          },
        },
      },
    ]);
  });
  const at = `trace?project=${encodeURIComponent(own)}&trace=files`;

  it('are heard, saved and opened, and nothing is read from elsewhere', async () => {
    const page = await visit(at);
    await page.locator('.call-pane .file-card').nth(4).waitFor();
    expect(await page.locator('.call-pane audio[controls]').count()).toBe(2);
    await page.getByText('It says hello.').waitFor();
    await page.getByText('Not loaded: https://example.com/far.pdf').waitFor();
    const card = (name: string) => page.locator('.call-pane .file-card').filter({ hasText: name });
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      card('terms.pdf').getByRole('button', { name: 'Download' }).click(),
    ]);
    expect(download.suggestedFilename()).toBe('terms.pdf');
    // Nothing but PDF opens in a tab of the page's origin.
    expect(await card('terms.pdf').getByRole('button', { name: 'Open' }).count()).toBe(1);
    expect(await card('x.html').getByRole('button', { name: 'Open' }).count()).toBe(0);
    expect(await axeFaults(page)).toEqual({ light: [], dark: [], width: 360 });
  });

  it('are in the story, and load from the project when somebody asks', async () => {
    const page = await visit(`${at}&call=stored&story=true`);
    await page.locator('.story-place audio').first().waitFor();
    const card = page.locator('.call-pane .file-card').filter({ hasText: 'rows.csv' });
    await card.getByRole('button', { name: 'Load' }).click();
    await card.getByRole('button', { name: 'Download' }).waitFor();
  });
});
