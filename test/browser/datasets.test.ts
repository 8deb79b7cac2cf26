import { readFile } from 'node:fs/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { newName } from '../support/run/new-name.ts';
import { axeFaults } from './support/axe.ts';
import { chat, post, report } from './support/calls.ts';
import { choose } from './support/choose.ts';
import { reader, useBrowser } from './support/visit.ts';

const visit = useBrowser();
let project: string;
let at: string;
const count = 10_000;

const stored = async (name: string, rows: readonly object[]) => {
  const { digest } = (await post('/table/create', { table: { project_id: project, rows } })) as {
    digest: string;
  };
  const val = { _type: 'Dataset', name, rows: `svc:///${project}/table/${digest}`, saved_at: name };
  await post('/obj/create', { obj: { project_id: project, object_id: name, val } });
};

/** The rows of the latest version. */
const readRows = async (name: string): Promise<unknown[]> => {
  const { obj } = (await post('/obj/read', { project_id: project, object_id: name, digest: 'latest' })) as {
    obj: { val: { rows: string } };
  };
  const digest = obj.val.rows.split('/').at(-1);
  const { rows } = (await post('/table/query', { project_id: project, digest })) as {
    rows: { val: unknown }[];
  };
  return rows.map(({ val }) => val);
};

beforeAll(async () => {
  project = newName('page/datasets');
  at = encodeURIComponent(project);
  const many = Array.from({ length: count }, (_, n) => ({
    inputs: { question: `Question ${n + 1}` },
    expected: n,
  }));
  await stored('many', many);
  await stored('few', [{ any: 'shape' }]);
  await report(project, [
    { id: 'bad', op: 'model.chat', ...chat([{ role: 'user', content: 'Hi' }], { content: 'Wrong' }) },
    ...Array.from({ length: 3 }, (_, n) => ({
      id: `turn-${n}`,
      name: `Turn ${n}`,
      thread: 'thread-1',
      at: n,
      inputs: { question: `Why ${n}?` },
      output: `Because ${n}`,
    })),
  ]);
});

describe('datasets', () => {
  it('of many rows show any of them, and read only those in sight', async () => {
    const page = await visit(`datasets?project=${at}`);
    await page.getByRole('link', { name: 'many 1 version' }).click();
    await page.getByRole('button', { name: 'Row 1 Question 1 0', exact: true }).waitFor();
    let read = 0;
    page.on('request', (request) => {
      if (request.url().endsWith('/table/query')) read += 1;
    });
    const rows = page.getByRole('region', { name: 'Rows' });
    await rows.evaluate((element) => element.scrollTo(0, element.scrollHeight));
    await page.getByRole('button', { name: 'Row 10,000 Question 10000 9999' }).waitFor();
    expect(read).toBeLessThan(4);
    expect(await rows.getByRole('listitem').count()).toBeLessThan(60);
  });

  it('take a call of a trace, changed before, and lead back to it', async () => {
    const page = await visit(`trace?project=${at}&trace=bad`);
    await page.getByRole('button', { name: 'Add to dataset' }).click();
    const dialog = page.getByRole('dialog', { name: 'Add to dataset' });
    await dialog.getByLabel('Dataset').fill('collected');
    await expect.poll(() => dialog.getByLabel('Inputs').inputValue()).toContain('"content": "Hi"');
    await dialog.getByLabel('Expected output').fill('Right');
    await dialog.getByRole('button', { name: 'Add row' }).click();
    await dialog.getByRole('link', { name: 'Open collected' }).click();
    await page.getByRole('button', { name: /^Row 1 .*Right$/ }).click();
    await page.getByRole('link', { name: 'The call that this row was taken from' }).click();
    await page.getByRole('heading', { name: 'model.chat', level: 2 }).waitFor();
    expect(page.url()).toContain('trace=bad');
    expect(await readRows('collected')).toMatchObject([
      { inputs: { model: 'gpt-4o-mini' }, expected: 'Right', source: `svc:///${project}/call/bad` },
    ]);
  });

  it('take selected rows of the list at once, changed or left out before', async () => {
    const page = await visit(`traces?project=${at}`);
    await page.getByRole('link', { name: 'Turn 0' }).waitFor();
    await page.getByLabel('Select all loaded rows').check();
    await page.getByLabel('Select model.chat').uncheck();
    await page.getByRole('toolbar').getByRole('button', { name: 'Add to dataset' }).click();
    const dialog = page.getByRole('dialog', { name: 'Add to dataset' });
    await dialog.getByLabel('Dataset').fill('selected');
    await dialog.getByRole('button', { name: 'Why 1? Because 1', exact: true }).click();
    await dialog.getByLabel('Expected output').fill('Who knows');
    await dialog.getByRole('button', { name: 'Leave out Why 2?' }).click();
    expect(await axeFaults(page)).toEqual({ light: [], dark: [], width: 360 });
    await dialog.getByRole('button', { name: 'Add 2 rows' }).click();
    await dialog.getByRole('link', { name: 'Open selected' }).waitFor();
    expect(await readRows('selected')).toEqual([
      { inputs: { question: 'Why 1?' }, expected: 'Who knows', source: `svc:///${project}/call/turn-1` },
      { inputs: { question: 'Why 0?' }, expected: 'Because 0', source: `svc:///${project}/call/turn-0` },
    ]);
  });

  it('take the turns of selected threads, in their order', async () => {
    const page = await visit(`threads?project=${at}`);
    await page.getByLabel('Select thread-1').check();
    await page.getByRole('button', { name: 'Add the turns of 1 thread to dataset' }).click();
    const dialog = page.getByRole('dialog', { name: 'Add to dataset' });
    await dialog.getByLabel('Dataset').fill('turns');
    await dialog.getByRole('button', { name: 'Add 3 rows' }).click();
    await dialog.getByRole('link', { name: 'Open turns' }).waitFor();
    expect(await readRows('turns')).toMatchObject(
      [0, 1, 2].map((n) => ({ inputs: { question: `Why ${n}?` }, expected: `Because ${n}` })),
    );
  });

  it('are imported, edited, compared and exported', async () => {
    const page = await visit(`datasets?project=${at}`);
    await page.getByRole('button', { name: 'Import a dataset' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Dataset').fill('imported');
    const file = (name: string, text: string) => ({
      name,
      mimeType: 'text/plain',
      buffer: Buffer.from(text),
    });
    const chosen = dialog.getByLabel('JSON Lines, or CSV');
    await chosen.setInputFiles(file('rows.jsonl', '{"a":1}\n[]'));
    await dialog.getByRole('button', { name: 'Import' }).click();
    await dialog.getByText('Line 2 is not a JSON object.').waitFor();
    // More rows than one request takes.
    const lines = Array.from({ length: 4100 }, (_, n) => `Where is ${n}?,"yes, ${n}"`);
    await chosen.setInputFiles(file('rows.csv', `inputs.question,expected\n${lines.join('\n')}`));
    await dialog.getByRole('button', { name: 'Import' }).click();
    await page.getByText('4,100 rows').waitFor();
    await page.getByRole('button', { name: 'Row 2 Where is 1?' }).click();
    const row = dialog.getByLabel('The row as JSON');
    await row.fill('{"inputs":');
    await dialog.getByRole('button', { name: 'Save as a new version' }).click();
    await dialog.getByText('A row is a JSON object').waitFor();
    await row.fill('{"inputs": {"question": "Where is 1?"}, "expected": "no"}');
    await dialog.getByRole('button', { name: 'Save as a new version' }).click();
    await page.getByRole('button', { name: 'Row 2 Where is 1? no' }).waitFor();
    await choose(page, 'Differences from', /^v\d/);
    const differences = page.getByRole('region', { name: 'Differences between v0 and v1' });
    await differences.locator('.removed').getByText('yes, 1').waitFor();
    await page.getByText('1 row added, 1 removed').waitFor();
    expect(page.url()).toContain('base=');
    await page.getByRole('button', { name: 'Export' }).click();
    await dialog.getByRole('button', { name: 'CSV' }).click();
    const saved = page.waitForEvent('download');
    await dialog.getByRole('button', { name: 'Save' }).click();
    const download = await saved;
    expect(download.suggestedFilename()).toBe('imported-v1.csv');
    const written = await readFile(await download.path(), 'utf8');
    expect(written.split('\n').slice(0, 3)).toEqual([
      'inputs.question,expected',
      'Where is 0?,"yes, 0"',
      'Where is 1?,no',
    ]);
    expect(written.trimEnd().split('\n')).toHaveLength(4101);
  });

  it('are not changed by a key that may only read', async () => {
    const page = await visit(`datasets?project=${at}&dataset=few`, { as: reader });
    await page.getByRole('button', { name: 'Row 1 shape' }).click();
    await page.getByRole('dialog').getByText('shape').waitFor();
    expect(await page.getByRole('button', { name: /Import|Add a row|Save as/ }).count()).toBe(0);
  });

  it('have no fault that axe finds, in light and in dark, and fit a phone', async () => {
    const page = await visit(`datasets?project=${at}&dataset=many`);
    await page.getByRole('button', { name: 'Row 1 Question 1 0', exact: true }).waitFor();
    expect(await axeFaults(page)).toEqual({ light: [], dark: [], width: 360 });
  });
});
