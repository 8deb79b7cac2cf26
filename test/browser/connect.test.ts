import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { logsJson, recordJson } from '../support/otel/otel.ts';
import { newName } from '../support/run/new-name.ts';
import { requires } from '../support/run/requirements.ts';
import { axeFaults } from './support/axe.ts';
import { atPresent, post, report } from './support/calls.ts';
import { key, url, useBrowser } from './support/visit.ts';

/* The first minutes: what an empty project says, and the dialog that is always in reach. */

const visit = useBrowser();
const run = promisify(execFile);

describe('an empty project', () => {
  it('says how to report to it, and tells when the first call came', requires('curl'), async () => {
    const project = newName('page/first');
    const page = await visit(`traces?project=${encodeURIComponent(project)}`, { colorScheme: 'light' });
    await page.getByRole('heading', { name: `${project} has no calls yet` }).waitFor();
    await page.getByText(`Waiting for the first call of ${project}`).waitFor();
    await page.getByText(`OTEL_EXPORTER_OTLP_ENDPOINT=${url}/otel`).first().waitFor();
    await page.getByRole('tab', { name: 'curl' }).click();
    const copy = page.getByRole('button', { name: /^Copy: Report one operation/ });
    await copy.waitFor();
    const codes = await page.locator('.connect-code pre').allInnerTexts();
    const [first = '', second = ''] = codes;
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await copy.click();
    await expect.poll(() => page.evaluate<string>('navigator.clipboard.readText()')).toBe(second);
    await page.context().clearPermissions();
    const script = [first.replace('svc_…', key), second].join('\n');
    await run('sh', ['-c', script]);
    await page.getByText('A call arrived: greet').waitFor();
    await page.getByRole('button', { name: 'Show the list' }).click();
    await page.getByRole('row').getByText('greet').waitFor();
  });
});

describe('the dialog', () => {
  it('tells of the next call of any project, in each view, without a fault that axe finds', async () => {
    const project = newName('page/next');
    await report(project, [{ id: 'old', name: 'Old' }]);
    const page = await visit(`overview?project=${encodeURIComponent(project)}`, { colorScheme: 'light' });
    await page.getByRole('button', { name: 'Connect' }).click();
    const dialog = page.getByRole('dialog', { name: 'Connect a program' });
    await dialog.getByText(`Waiting for the next call of ${project}`).waitFor();
    for (const name of ['OpenAI SDK', 'Vercel AI SDK', 'LangChain', 'Weave', 'Coding agents'])
      await dialog.getByRole('tab', { name }).waitFor();
    await post('/otel/v1/logs', logsJson(project, recordJson('order.placed', {})));
    await dialog.getByText(/1 item was dropped/).waitFor();
    await dialog.getByText(/OTEL_LOGS_EXPORTER=none/).waitFor();
    expect(await axeFaults(page)).toEqual({ light: [], dark: [], width: 360 });
    // What a judge did is no call of a program.
    const judged = { id: 'judged', name: 'Judged', at: atPresent() + 60_000 };
    await report(project, [{ ...judged, attributes: { source: 'judge' } }]);
    await post('/call/start', {
      start: { project_id: project, op_name: 'hello', started_at: new Date().toISOString() },
    });
    await dialog.getByRole('link', { name: 'hello' }).click();
    await page.getByRole('treeitem').first().waitFor();
  });
});
