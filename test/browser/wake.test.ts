import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { report, turn } from './support/calls.ts';
import { useBrowser } from './support/visit.ts';

const visit = useBrowser();
const project = 'page/wake';
const at = encodeURIComponent(project);

beforeAll(async () => {
  await report(project, turn('w1', 0));
  // A single project would be opened at once.
  await report('page/another', turn('w2', 0));
});

/** Notes the requests that only wake functions, in order. */
const wakings = (page: Page): string[] => {
  const seen: string[] = [];
  page.on('request', (request) => {
    if (request.method() !== 'POST') return;
    const body = request.postDataJSON();
    const isIdle = body.limit === 0 || body.call_ids?.length === 0 || body.filter?.call_ids?.length === 0;
    if (isIdle || String(body.id).startsWith('none:')) seen.push(new URL(request.url()).pathname);
  });
  return seen;
};

describe('functions', () => {
  it('are woken before the next view needs them, each once, and at most four in a visit', async () => {
    const page = await visit('');
    const seen = wakings(page);
    await page.getByRole('link', { name: project }).click();
    await page.getByRole('link', { name: 'Turn w1' }).click();
    await page.getByRole('treeitem').nth(1).click();
    await page.getByRole('tab', { name: 'Messages' }).waitFor();
    await page.goBack();
    await page.getByRole('link', { name: 'Overview' }).hover();
    await page.getByRole('link', { name: 'Turn w1' }).waitFor();
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen).toContain('/call/read');
    expect(seen).toContain('/calls/stats');
    expect(seen.length).toBeLessThanOrEqual(4);
  });

  it('of a link that was sent are woken while the key is looked up', async () => {
    const page = await visit('');
    await page.getByRole('heading', { name: 'Projects' }).waitFor();
    const seen = wakings(page);
    const asked: string[] = [];
    page.on('request', (request) => asked.push(new URL(request.url()).pathname));
    await page.goto(new URL(`trace?project=${at}&trace=w1`, page.url()).href);
    await page.getByRole('treeitem').first().waitFor();
    expect(seen[0]).toBe('/calls/stream_query');
    expect(asked.indexOf('/calls/stream_query')).toBeLessThan(asked.indexOf('/me') + 2);
  });
});
