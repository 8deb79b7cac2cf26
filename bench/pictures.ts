/**
 * `npm run pictures`: takes the pictures of README and docs, light and dark, from a local service
 * with the demo's data. They go to docs/pictures.
 */
import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Browser, Page } from 'playwright-core';
import { runPlain } from '../bin/common.ts';
import { runDemo } from '../local/demo.ts';
import { type LocalService, startLocalService } from '../local/service.ts';
import { launchBrowser } from './harness/browser.ts';

const folder = resolve(import.meta.dirname, '../docs/pictures');
const project = 'demo/shop';
const viewport = { width: 1200, height: 720 };

/** A picture: its name, its view, and what makes the view ready. */
interface Picture {
  readonly name: string;
  readonly path: string;
  readonly prepare: (page: Page) => Promise<unknown>;
}

/** Asks the service for the calls of an operation in a thread's topic, the newest first. */
const newestCall = async ({ url, key }: LocalService, topic: string, op: string) => {
  const is = (path: string, value: string) => ({ $eq: [{ $getField: path }, { $literal: value }] });
  const body = {
    project_id: project,
    query: { $expr: { $and: [is('op_name', op), is('attributes.kind', 'model')] } },
    sort_by: [{ field: 'started_at', direction: 'desc' }],
    columns: ['thread_id'],
  };
  const answer = await fetch(`${url}/calls/stream_query`, {
    method: 'POST',
    headers: {
      authorization: `Basic ${Buffer.from(`api:${key}`).toString('base64')}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify(body),
  });
  const calls = (await answer.text())
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { id: string; trace_id: string; thread_id: string | null });
  const found = calls.find(({ thread_id }) => thread_id?.includes(topic));
  if (!found) throw new Error(`the demo has no call of ${op} about ${topic}`);
  return found;
};

const picturesOf = async (service: LocalService): Promise<Picture[]> => {
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
        await page.getByRole('heading', { name: 'What became worse' }).waitFor();
        await page.getByRole('heading', { name: 'Operations' }).waitFor();
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

const take = async (browser: Browser, service: LocalService, colorScheme: 'light' | 'dark') => {
  const context = await browser.newContext({ viewport, colorScheme, locale: 'en-US', timezoneId: 'UTC' });
  await context.addInitScript((key) => sessionStorage.setItem('pennytrace.key', key), service.key);
  for (const { name, path, prepare } of await picturesOf(service)) {
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
  const service = await startLocalService({});
  try {
    await runDemo(service, AbortSignal.timeout(120_000));
    const browser = await launchBrowser();
    mkdirSync(folder, { recursive: true });
    try {
      for (const colorScheme of ['light', 'dark'] as const) await take(browser, service, colorScheme);
    } finally {
      await browser.close();
    }
  } finally {
    await service.stop();
  }
};

await runPlain('pictures', 'Take the pictures in docs/pictures anew: npm run pictures', takeAll);
process.exit();
