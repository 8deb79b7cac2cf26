import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startService, type TestService } from '../support/service/service.ts';
import { startUpstream, type TestUpstream } from '../support/service/upstream.ts';
import { errorRate } from '../support/values/alerts.ts';
import { axeFaults } from './support/axe.ts';
import { choose } from './support/choose.ts';
import { reader, useBrowser, type Visit } from './support/visit.ts';

const visit = useBrowser();
const project = 'page/alerts';
const at = encodeURIComponent(project);
let receiver: TestUpstream;
let service: TestService;

/** Calls that began so many minutes ago, each of which failed. */
const failures = (minutesAgo: readonly number[]) =>
  minutesAgo.flatMap((minutes) => {
    const id = `failed-${minutes}`;
    const started_at = new Date(Date.now() - minutes * 60_000).toISOString();
    const start = { project_id: project, id, trace_id: id, op_name: 'chat', started_at };
    const end = { project_id: project, id, ended_at: started_at, exception: 'Boom', summary: {} };
    return [
      { mode: 'start', req: { start: { ...start, attributes: {}, inputs: {} } } },
      { mode: 'end', req: { end } },
    ];
  });

beforeAll(async () => {
  receiver = await startUpstream();
  service = await startService({
    settings: {
      alerts: true,
      redact: [
        { name: 'mail', builtin: 'email', action: 'hash' },
        { name: 'customer', pattern: 'CUST-[0-9]{6}', paths: ['inputs.customer', 'output'], action: 'label' },
        { name: 'password', paths: ['inputs.password'], action: 'drop' },
      ],
    },
    webhooks: { ops: `${receiver.baseUrl}/ops`, spare: `${receiver.baseUrl}/spare` },
    maxScheduleMs: 500,
  });
  const answer = await service.post('/call/upsert_batch', { batch: failures([1, 2, 3, 4, 300]) });
  expect(answer.status).toBe(200);
});
afterAll(async () => {
  await service.stop();
  await receiver[Symbol.asyncDispose]();
});

const open = (path: string, look: Visit = {}) =>
  visit(path, { as: service.key, base: `${service.url}/ui/`, ...look });

describe('an alert', () => {
  it('is made beside a chart, previewed, and tells, is tried, paused and deleted', async () => {
    const page = await open(`overview?project=${at}`, { colorScheme: 'light' });
    await page.getByRole('link', { name: 'Create alert on Errors' }).click();
    const form = page.getByRole('region', { name: 'New alert' });
    expect(await form.getByRole('combobox', { name: 'Metric' }).innerText()).toBe('Error rate');
    await choose(form, 'Window', '5 minutes');
    await form.getByRole('button', { name: 'Preview the last 30 days' }).click();
    await form.getByText('An alert needs a threshold.').waitFor();
    await form.getByLabel('Alert, in %').fill('50');
    await form.getByText('Missing data, consecutive checks and reminders').click();
    await form.getByLabel('Consecutive checks').fill('1');
    await form.getByRole('button', { name: '+ Webhook' }).click();
    await form.getByRole('combobox', { name: 'Name of webhook 1' }).fill('o');
    await page.getByRole('option', { name: 'ops' }).click();
    expect(await form.getByLabel('Name of webhook 1').inputValue()).toBe('ops');
    await form.getByRole('button', { name: '+ Webhook' }).click();
    await form.getByLabel('Name of webhook 2').fill('gone');
    await form.getByRole('button', { name: 'Preview the last 30 days' }).click();
    const preview = form.getByRole('region', { name: 'Preview' });
    await preview.getByRole('heading', { name: /It would have fired [12] times?/ }).waitFor();
    await preview.getByRole('img', { name: /Error rate above 50 % in 5 minutes/ }).waitFor();
    await preview.getByText(/about <?\$\d+\.\d+ a month/).waitFor();
    expect(await axeFaults(page)).toEqual({ light: [], dark: [], width: 360 });
    await form.getByLabel('Name', { exact: true }).fill('Too many errors');
    await form.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: 'Too many errors' }).waitFor();
    const notifications = page.getByRole('region', { name: 'Notifications' });
    // A change is told a moment after it is seen, and the page reads again in half a minute only.
    await expect
      .poll(
        async () => {
          await page.reload();
          await page.getByText('Error rate above 50 % in 5 minutes').waitFor();
          return (await notifications.allInnerTexts()).join();
        },
        { interval: 500 },
      )
      .toMatch(/(?=.*✕\s+alert)(?=.*✓ webhook ops)(?=.*has no webhook gone)/s);
    await page.getByText('all calls, production').waitFor();
    // The time that was measured ends before it was told.
    const told = notifications.getByRole('link').first();
    const measured = new URL((await told.getAttribute('href')) ?? '', page.url()).searchParams;
    const [from, to] = ['from', 'to'].map((name) => Date.parse(measured.get(name) ?? ''));
    expect((to ?? 0) - (from ?? 0)).toBe(5 * 60_000);
    expect((to ?? 0) % 60_000).toBe(0);
    const ofWindow = page.getByRole('link', { name: 'Show its calls' });
    const link = new URL((await ofWindow.getAttribute('href')) ?? '', page.url()).searchParams;
    expect(Date.parse(link.get('to') ?? '') - Date.parse(link.get('from') ?? '')).toBe(5 * 60_000);
    expect(link.get('all')).toBe('true');
    await page.getByRole('button', { name: 'Send a test message' }).click();
    await page.getByText('webhook ops: delivered').waitFor();
    await page.getByText('webhook gone: page/alerts has no webhook gone').waitFor();
    expect((await axeFaults(page)).light).toEqual([]);
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.getByRole('button', { name: 'Pause Too many errors' }).click();
    await page.getByText('‖ paused').waitFor();
    await page.getByRole('link', { name: 'Change' }).click();
    const change = page.getByRole('region', { name: 'Change the alert' });
    expect(await change.getByLabel('Alert, in %').inputValue()).toBe('50');
    await page.getByRole('navigation', { name: 'Breadcrumb' }).getByRole('link', { name: 'Alerts' }).click();
    await page.getByRole('row', { name: /Too many errors .* paused/ }).waitFor();
    expect(await axeFaults(page)).toEqual({ light: [], dark: [], width: 360 });
    await page.getByRole('link', { name: 'Too many errors' }).click();
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText(`${project} has no alerts yet`).waitFor();
  });

  it('takes the filters of a list', async () => {
    const page = await open(`traces?project=${at}&status=%5B%22error%22%5D`);
    await page.getByRole('link', { name: 'Create alert' }).click();
    const form = page.getByRole('region', { name: 'New alert' });
    expect(await form.getByRole('combobox', { name: 'Metric' }).innerText()).toBe('Calls');
    await form.getByRole('button', { name: 'error', exact: true }).waitFor();
    await form.getByRole('button', { name: 'Traces', exact: true }).waitFor();
    await form.getByLabel('Name', { exact: true }).fill('Failing traces');
    await choose(form, 'Window', '1 day');
    await form.getByLabel('Alert, in calls').fill('100');
    await form.getByRole('button', { name: 'Save' }).click();
    await form.getByText('Rollups cannot answer this alert').waitFor();
    await form.getByRole('button', { name: /^Save for <?\$0\.\d+ a month$/ }).click();
    await page.getByRole('heading', { name: 'Failing traces' }).waitFor();
  });

  it('counts new issues, which no filters select', async () => {
    const page = await open(`alerts?project=${at}&form=true`);
    const form = page.getByRole('region', { name: 'New alert' });
    const filters = form.getByRole('button', { name: 'All calls', exact: true });
    await filters.waitFor();
    await choose(form, 'Metric', 'New issues');
    await filters.waitFor({ state: 'detached' });
    await form.getByLabel('Name', { exact: true }).fill('Something new');
    await form.getByLabel('Alert, in issues').fill('0');
    await form.getByRole('button', { name: 'Preview the last 30 days' }).click();
    await form.getByRole('heading', { name: 'It would have fired 1 time' }).waitFor();
    await form.getByText('Answered from rollups').waitFor();
    await form.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: 'Something new' }).waitFor();
    await page.getByText('New issues above 0 in 1 hour').waitFor();
  });

  it('says beforehand that the key lacks a role, and that alerts are off', async () => {
    const page = await visit(`alerts?project=${at}&form=true`, { as: reader });
    await page.getByText(`need the role admin on ${project}`).waitFor();
    await page.getByText('Alerts are off in this service').waitFor();
    expect(await page.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true);
  });
});

describe('the settings of a project', () => {
  /** The texts of a table's cells, row by row. */
  const rowsOf = async (page: Page) => {
    const rows = page.locator('.settings-section tbody tr');
    await rows.first().waitFor();
    return rows.evaluateAll((all) =>
      all.map((row) => [...row.querySelectorAll('td')].map(({ textContent }) => textContent)),
    );
  };

  it('show the webhooks that there are, by name, with the alerts that use them', async () => {
    const of = 'page/alerts-settings';
    const val = errorRate({ name: 'Errors', tell: [{ webhook: 'ops' }, { webhook: 'gone' }] });
    await service.post('/obj/create', { obj: { project_id: of, object_id: 'errors', val } });
    const page = await open(`settings?project=${encodeURIComponent(of)}&section=webhooks`, {
      colorScheme: 'light',
    });
    expect(await rowsOf(page)).toEqual([
      ['gone', 'not made yet', 'Errors'],
      ['ops', 'ready', 'Errors'],
      ['spare', 'ready', 'none'],
    ]);
    expect(await page.content()).not.toContain(receiver.baseUrl);
    expect(await axeFaults(page)).toEqual({ light: [], dark: [], width: 360 });
  });

  it('show the redaction that is in force', async () => {
    const page = await open(`settings?project=${at}&section=redaction`, { colorScheme: 'light' });
    expect(await rowsOf(page)).toEqual([
      ['mail', 'the built-in format email', 'everywhere', '[mail:1f0c…]'],
      ['customer', 'CUST-[0-9]{6}', 'inputs.customer, output', '[customer]'],
      ['password', 'everything', 'inputs.password', 'nothing'],
    ]);
    expect(await axeFaults(page)).toEqual({ light: [], dark: [], width: 360 });
  });
});
