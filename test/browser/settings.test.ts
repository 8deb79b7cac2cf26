import { beforeAll, describe, expect, it } from 'vitest';
import { newName } from '../support/run/new-name.ts';
import { axeFaults } from './support/axe.ts';
import { post, report, turn } from './support/calls.ts';
import { choose } from './support/choose.ts';
import { focused } from './support/focus.ts';
import { reader, useBrowser } from './support/visit.ts';

const visit = useBrowser();
const project = 'page/settings';
const at = encodeURIComponent(project);
const section = (name: string, of = at) => `settings?project=${of}&section=${name}`;

beforeAll(async () => {
  await report(project, turn('settings-1', 0));
});

/** The value of the project's object that has a setting; undefined for none. */
const stored = async (of: string, id: string): Promise<unknown> => {
  const filter = { object_ids: [id], latest_only: true };
  const { objs } = (await post('/objs/query', { project_id: of, filter })) as { objs: { val: unknown }[] };
  return objs[0]?.val;
};

describe('the settings', () => {
  it('have a section each, with an address of its own, and the side bar leads there', async () => {
    const page = await visit(`traces?project=${at}`);
    await page.getByRole('link', { name: 'Settings' }).click();
    await page.getByRole('heading', { name: 'General' }).waitFor();
    await page.getByRole('link', { name: 'Webhooks' }).click();
    await page.getByText('Alerts are off in this service, and so are webhooks').waitFor();
    expect(page.url()).toContain('section=webhooks');
    await expect.poll(() => page.title()).toBe(`Webhooks · ${project} · pennytrace`);
    await page.goBack();
    await page.getByRole('heading', { name: 'General' }).waitFor();
  });

  it('have the former address of prices lead there', async () => {
    const page = await visit(`prices?project=${at}&model=gpt`);
    await page.getByRole('heading', { name: 'Prices', exact: true }).waitFor();
    const { pathname, search } = new URL(page.url());
    expect([pathname, search]).toEqual([
      expect.stringMatching(/\/settings$/),
      `?project=${at}&model=gpt&section=prices`,
    ]);
  });

  it('are chosen in one field on a phone', async () => {
    const page = await visit(`settings?project=${at}`, { viewport: { width: 390, height: 844 } });
    await page.getByRole('heading', { name: 'General' }).waitFor();
    await choose(page, 'Section', 'Redaction');
    await page.getByText('There are no rules, so everything is stored as it is reported.').waitFor();
  });

  it('say what takes another role where somebody would look for it', async () => {
    const page = await visit(section('members'), { as: reader });
    const says = (text: string) => page.getByText(`It takes the role admin on ${project} ${text}`).waitFor();
    await says('to see and change its members');
    await page.getByRole('link', { name: 'Keys' }).click();
    await says('to see, make and revoke keys');
    await page.getByRole('link', { name: 'Spending limits' }).click();
    await says('to change them');
    await page.getByRole('link', { name: 'Retention' }).click();
    await says('to change this');
    await page.getByRole('link', { name: 'Audit' }).click();
    await says('to see who did what');
    await page.getByRole('link', { name: 'Delete project' }).click();
    await says('to delete it');
    expect(await page.locator('.settings-section').getByRole('button').count()).toBe(0);
  });

  it('are used by keyboard: forms take the focus, and give it back', async () => {
    const page = await visit(section('members'));
    await page.getByRole('button', { name: 'Add a member' }).press('Enter');
    await expect.poll(() => focused(page)).toBe('Person or group');
    await page.getByRole('button', { name: 'Cancel' }).press('Enter');
    await expect.poll(() => focused(page)).toBe('Add a member');
    await page.getByRole('link', { name: 'Keys' }).press('Enter');
    await page.getByRole('button', { name: 'New key' }).press('Enter');
    await expect.poll(() => focused(page)).toBe('User');
    await page.keyboard.press('Enter');
    await page.getByRole('region', { name: 'The new key' }).waitFor();
    await expect.poll(() => focused(page)).toBe('The new key');
  });

  it.each([
    ['general', '.connect-steps'],
    ['members', '.empty'],
    ['keys', '.plain-table, .empty'],
    ['limits', 'form'],
    ['retention', 'form'],
    ['redaction', 'p'],
    ['webhooks', 'p'],
    ['audit', '.audit-filters'],
    ['delete', 'form'],
  ])('have no fault that axe finds in %s, and fit a phone', async (name, sign) => {
    const page = await visit(section(name), { colorScheme: 'light' });
    await page.locator(`.settings-section :is(${sign})`).first().waitFor();
    await page.waitForLoadState('networkidle');
    expect(await axeFaults(page)).toEqual({ light: [], dark: [], width: 360 });
  });
});

describe('the default view', () => {
  it('is chosen among those that were saved', async () => {
    const of = newName('page/settings-default');
    await report(of, turn('default-1', 0));
    const val = { _type: 'SavedView', name: 'Failures', view: 'traces', search: { status: ['error'] } };
    await post('/obj/create', { obj: { project_id: of, object_id: 'saved-view-1', val } });
    const page = await visit(section('general', encodeURIComponent(of)));
    await choose(page, 'View', 'Failures');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('button', { name: 'Save', disabled: true }).waitFor();
    expect(await stored(of, 'saved-view-1')).toMatchObject({ name: 'Failures', is_default: true });
  });
});

describe('spending limits', () => {
  it('are set, shown and taken away', async () => {
    const of = newName('page/settings-limits');
    await report(of, turn('limits-1', 0));
    const page = await visit(section('limits', encodeURIComponent(of)));
    const day = page.getByLabel('Dollars a day', { exact: true });
    await day.fill('none');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('alert').getByText('Dollars a day: enter a number above 0').waitFor();
    await day.fill('2,5');
    await page.getByRole('button', { name: 'Save' }).click();
    await expect.poll(() => stored(of, 'limits')).toMatchObject({ _type: 'Limits', usd_per_day: 2.5 });
    await page.getByText('the setting limits of this deployment is off').waitFor();
    await page.reload();
    await expect.poll(() => day.inputValue()).toBe('2.5');
    await day.fill('');
    await page.getByRole('button', { name: 'Save' }).click();
    await expect.poll(() => stored(of, 'limits')).toBeUndefined();
  });
});
