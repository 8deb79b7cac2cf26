import type { Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { newName } from '../support/run/new-name.ts';
import { startService, type TestService } from '../support/service/service.ts';
import { axeFaults } from './support/axe.ts';
import { useBrowser, type Visit } from './support/visit.ts';

/* People who sign in at a real OpenID provider, and what they do in the settings. */

const visit = useBrowser();
const project = 'team/shop';
const at = encodeURIComponent(project);

/** Any issuer: the one that is started takes its place. */
const signIn = {
  issuer: 'https://login.example.com',
  clientId: 'pennytrace',
  groupsClaim: 'groups',
  admins: ['ada@example.com'],
};

let service: TestService;
beforeAll(async () => {
  service = await startService({ settings: { signIn, authorizerCacheSeconds: 0 }, signIn: 'local' });
  await reportCall(project, 'call-1', 'Answer a question');
  await reportCall('team/another', 'call-2', 'Answer another');
});
afterAll(() => service?.stop());

const post = async (path: string, body: object): Promise<unknown> => {
  const answer = await service.post(path, body);
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  return answer.json();
};

const reportCall = (of: string, id: string, name: string): Promise<unknown> => {
  const start = {
    project_id: of,
    id,
    trace_id: id,
    op_name: 'agent.turn',
    display_name: name,
    started_at: new Date().toISOString(),
  };
  return post('/call/start', { start });
};

const open = (path: string, look: Visit = {}): Promise<Page> =>
  visit(path, { signedIn: false, base: `${service.url}/ui/`, ...look });

/** Fills in the provider's form. */
const fill = async (page: Page, email: string): Promise<void> => {
  await page.getByLabel('E-mail').fill(email);
  await page.getByLabel('Password').fill(service.openId?.password ?? '');
  await page.getByRole('button', { name: 'Sign in' }).click();
};

/** Opens a view as a person who signs in for it. */
const openAs = async (email: string, path: string, look?: Visit): Promise<Page> => {
  const page = await open(path, look);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await fill(page, email);
  return page;
};

const ada = 'ada@example.com';
const ben = 'ben@example.com';

/** What the tab keeps of the session. */
const session = (page: Page): Promise<Record<string, unknown> | null> =>
  page.evaluate(`JSON.parse(sessionStorage.getItem('pennytrace.session'))`);

/** Changes what the tab keeps of the session. */
const changeSession = (page: Page, changes: object): Promise<void> =>
  page.evaluate((more) => {
    const name = 'pennytrace.session';
    const kept = JSON.parse(sessionStorage.getItem(name) ?? '{}') as object;
    sessionStorage.setItem(name, JSON.stringify({ ...kept, ...more }));
  }, changes);

/** Signs out at the provider, too. */
const signOut = async (page: Page): Promise<void> => {
  await page.getByRole('button', { name: /^Signed in as/ }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('button', { name: 'Sign in' }).waitFor();
};

// Nobody is signed in at the provider from the test before.
beforeEach(async () => {
  const page = await open('');
  await page.context().clearCookies();
});

describe('somebody who signs in', () => {
  it('comes back to the view that they asked for, and neither code nor token is in an address', async () => {
    // Going back leads to the provider's form, which was used.
    const path = `traces?project=${at}&status=${encodeURIComponent('["running"]')}`;
    const page = await open(path, { expected: /400/ });
    const addresses: string[] = [];
    page.on('framenavigated', (frame) => addresses.push(frame.url()));
    await page.getByRole('button', { name: 'Sign in' }).click();
    await fill(page, ada);
    await page.getByRole('link', { name: 'Answer a question' }).waitFor();
    const { pathname, search } = new URL(page.url());
    expect([pathname, search]).toEqual(['/ui/traces', `?project=${at}&status=%5B%22running%22%5D`]);
    await page.getByRole('button', { name: 'Signed in as Ada Lovelace' }).click();
    await page.getByText(`signed in at ${new URL(service.openId?.settings.issuer ?? '').host}`).waitFor();
    const kept = await session(page);
    for (const secret of [kept?.bearer, kept?.refresh]) {
      expect(secret).toEqual(expect.any(String));
      expect(addresses.filter((address) => address.includes(String(secret)))).toEqual([]);
    }
    // What the issuer adds is gone from the history as well.
    await page.goBack();
    expect(page.url()).not.toMatch(/code=|state=/);
    expect(await page.evaluate('document.cookie + JSON.stringify(localStorage)')).not.toContain(
      String(kept?.refresh),
    );
  });

  it('stays signed in over a reload, and in a new tab needs no password', async () => {
    const page = await openAs(ada, `traces?project=${at}`);
    await page.getByRole('link', { name: 'Answer a question' }).waitFor();
    await page.reload();
    await page.getByRole('link', { name: 'Answer a question' }).waitFor();
    const other = await open(`traces?project=${at}`);
    await other.getByRole('link', { name: 'Answer a question' }).waitFor();
  });

  it('learns that they cancelled, or that an address was made up', async () => {
    const page = await open(`?code=made-up&state=made-up`);
    await page.getByRole('alert').getByText('This sign-in was begun in another tab').waitFor();
    expect(page.url()).not.toContain('code');
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
  });

  it('can use a key instead', async () => {
    const page = await open('');
    await page.getByText('Use a key').click();
    await page.getByLabel('Key').fill(service.key);
    await page.getByLabel('Key').press('Enter');
    await page.getByRole('button', { name: 'Signed in as local' }).waitFor();
  });

  it('signs out here and at the issuer', async () => {
    const page = await openAs(ada, `traces?project=${at}`);
    await page.getByRole('link', { name: 'Answer a question' }).waitFor();
    await signOut(page);
    expect(await session(page)).toBeNull();
    // A new sign-in asks for the password.
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByLabel('Password').waitFor();
  });

  it('has no fault that axe finds, in light and in dark, and fits a phone', async () => {
    const page = await open('', { colorScheme: 'light' });
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
    expect(await axeFaults(page)).toEqual({ light: [], dark: [], width: 360 });
  });
});

describe('a session', () => {
  it('renews itself when its token has ended, once for all requests', async () => {
    const page = await openAs(ada, `traces?project=${at}`);
    await page.getByRole('link', { name: 'Answer a question' }).waitFor();
    const renewals: string[] = [];
    page.on('request', (request) => request.url().endsWith('/token') && renewals.push(request.url()));
    const before = await session(page);
    await changeSession(page, { until: 0 });
    await page.getByRole('link', { name: 'Overview' }).click();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await expect.poll(async () => (await session(page))?.refresh).not.toBe(before?.refresh);
    await page.waitForLoadState('networkidle');
    expect(renewals).toHaveLength(1);
  });

  it('renews itself when the service refuses its token before the clock of the device does', async () => {
    const page = await openAs(ada, `traces?project=${at}`, { expected: /401/ });
    await page.getByRole('link', { name: 'Answer a question' }).waitFor();
    await changeSession(page, { bearer: 'ended' });
    await page.getByRole('link', { name: 'Threads' }).click();
    await page.getByRole('heading', { name: 'Threads' }).waitFor();
    await expect.poll(async () => (await session(page))?.bearer).not.toBe('ended');
    expect(await page.getByRole('dialog').count()).toBe(0);
  });

  it('is renewed by one of two tabs that have it, and the other takes what it got', async () => {
    const page = await openAs(ada, `traces?project=${at}`);
    await page.getByRole('link', { name: 'Answer a question' }).waitFor();
    // A duplicated tab has what the tab had.
    const kept = JSON.stringify(await session(page));
    const other = await open('sign-in-elsewhere');
    await other.evaluate((text) => sessionStorage.setItem('pennytrace.session', text), kept);
    await other.goto(`${service.url}/ui/traces?project=${at}`);
    await other.getByRole('link', { name: 'Answer a question' }).waitFor();
    for (const tab of [page, other]) await changeSession(tab, { until: 0 });
    await Promise.all([page, other].map((tab) => tab.getByRole('link', { name: 'Overview' }).click()));
    await Promise.all([page, other].map((tab) => tab.getByRole('heading', { name: 'Overview' }).waitFor()));
    await expect.poll(async () => (await session(page))?.until).toBeGreaterThan(0);
    await expect.poll(async () => (await session(other))?.refresh).toBe((await session(page))?.refresh);
    // The refresh token was used once: twice would have ended the session for both.
    for (const tab of [page, other]) await changeSession(tab, { until: 0 });
    await other.getByRole('link', { name: 'Traces' }).click();
    await other.getByRole('link', { name: 'Answer a question' }).waitFor();
    expect(await other.getByRole('dialog').count()).toBe(0);
  });

  it('that cannot be renewed asks for the sign-in over what is on the screen, and comes back', async () => {
    const page = await openAs(ada, `traces?project=${at}`, { expected: /400/ });
    await page.getByRole('link', { name: 'Answer a question' }).waitFor();
    await changeSession(page, { until: 0, refresh: 'gone' });
    await page.getByRole('link', { name: 'Threads' }).click();
    const dialog = page.getByRole('dialog', { name: 'Sign in again' });
    await dialog.getByText('Your session has ended.').waitFor();
    await dialog.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Threads' }).waitFor();
    expect(new URL(page.url()).pathname).toBe('/ui/threads');
  });

  it('stays when the issuer is away for a while', async () => {
    const page = await openAs(ada, `traces?project=${at}`, { expected: /503/ });
    await page.getByRole('link', { name: 'Answer a question' }).waitFor();
    await page.route('**/token', (route) => route.fulfill({ status: 503, body: 'later' }));
    await changeSession(page, { until: 0 });
    await page.getByRole('link', { name: 'Objects' }).click();
    await page.getByRole('alert').getByText('Cannot reach the issuer').waitFor();
    await page.unroute('**/token');
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('object').first().waitFor();
    expect(await page.getByRole('dialog').count()).toBe(0);
  });
});

describe('two people in one browser', () => {
  it('have their own rights, one after the other', async () => {
    const page = await openAs(ada, `settings?project=${at}&section=members`);
    await page.getByRole('button', { name: 'Add a member' }).first().waitFor();
    await signOut(page);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await fill(page, ben);
    await page.getByRole('button', { name: 'Signed in as Ben Okafor' }).waitFor();
    await page.goto(`${service.url}/ui/settings?project=${at}&section=members`);
    await page.getByText(`It takes the role admin on ${project}`).waitFor();
    expect(await page.getByRole('button', { name: 'Add a member' }).count()).toBe(0);
  });
});

describe('a member', () => {
  it('is added, may do more, and is out when removed', async () => {
    const of = newName('team/members');
    await reportCall(of, 'member-call', 'A call');
    const to = `settings?project=${encodeURIComponent(of)}&section=members`;
    const page = await openAs(ada, to);
    await page.getByRole('button', { name: 'Add a member' }).first().click();
    const form = page.getByRole('form', { name: 'Add a member' });
    await form.getByLabel('Person or group').fill('Cleo@example.com');
    await form.getByLabel(/^write:/).check();
    await form.getByRole('button', { name: 'Add' }).click();
    const row = page.getByRole('row', { name: /cleo@example.com/ });
    await row.getByText('read, write').waitFor();
    await row.getByRole('button', { name: 'Change' }).click();
    const change = page.getByRole('form', { name: 'Change cleo@example.com' });
    await change.getByLabel(/^read:/).uncheck();
    await change.getByLabel(/^write:/).uncheck();
    await change.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('alert').getByText('Choose a role.').waitFor();
    await change.getByLabel(/^admin:/).check();
    await change.getByRole('button', { name: 'Save' }).click();
    await row.getByText('admin', { exact: true }).waitFor();
    await row.getByRole('button', { name: /^Remove cleo@example.com/ }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await row.waitFor({ state: 'detached' });
  });

  it('that was removed is refused what they could do, and reads why', async () => {
    const of = newName('team/removed');
    await reportCall(of, 'removed-call', 'A call');
    await post('/members/set', { project_id: of, member: ben, grants: ['write'] });
    const page = await openAs(ben, `settings?project=${encodeURIComponent(of)}&section=prices`, {
      expected: /403/,
    });
    await page.getByLabel('Model').fill('gpt-4o-mini');
    await page.getByLabel('Input, per million tokens').fill('1');
    await page.getByLabel('Output, per million tokens').fill('2');
    await post('/members/remove', { project_id: of, member: ben });
    await page.getByRole('button', { name: 'Add price' }).click();
    await page.getByRole('alert').getByText('The price was not added.').waitFor();
    await page.reload();
    await page.getByText('You may not add prices').waitFor();
  });
});

describe('a key', () => {
  it('is made, shown once with lines that hold it, used and revoked', async () => {
    const of = newName('team/keys');
    await reportCall(of, 'key-call', 'A call');
    const page = await openAs(ada, `settings?project=${encodeURIComponent(of)}&section=keys`);
    await page.getByRole('button', { name: 'New key' }).first().click();
    const form = page.getByRole('form', { name: 'New key' });
    await form.getByLabel('User').fill('robot');
    await form.getByRole('button', { name: 'Create key' }).click();
    const made = page.getByRole('region', { name: 'The new key' });
    const secret = (await made.locator('.made-key code').innerText()).trim();
    expect(secret).toMatch(/^svc_[0-9a-z]{16}_[0-9a-f]{64}$/);
    await made.getByText(`Bearer%20${secret}`).waitFor();
    const use = () =>
      fetch(`${service.url}/calls/query_stats`, {
        method: 'POST',
        headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
        body: JSON.stringify({ project_id: of }),
      });
    const basic = () =>
      fetch(`${service.url}/calls/query_stats`, {
        method: 'POST',
        headers: {
          authorization: `Basic ${Buffer.from(`api:${secret}`).toString('base64')}`,
          'content-type': 'application/json',
        },
        body: JSON.stringify({ project_id: of }),
      });
    expect([(await use()).status, (await basic()).status]).toContain(200);
    await made.getByRole('button', { name: 'I have copied it' }).click();
    await page.reload();
    const row = page.getByRole('row', { name: /robot/ });
    await row.waitFor();
    expect(await page.getByText(secret).count()).toBe(0);
    await row.getByRole('button', { name: /^Revoke the key/ }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
    await row.waitFor({ state: 'detached' });
    await page.getByLabel('Show revoked and expired keys').check();
    await page.getByRole('row', { name: /robot.*revoked/ }).waitFor();
  });
});

describe('the policy of the page', () => {
  it('has the token endpoint of the issuer, and nothing else of another origin', async () => {
    const { token_endpoint } = (await (await fetch(`${service.url}/sign-in`)).json()) as Record<
      string,
      string
    >;
    const { headers } = await fetch(`${service.url}/ui/traces`);
    const policy = headers.get('content-security-policy') ?? '';
    expect(policy).toContain(`connect-src 'self' ${token_endpoint};`);
    expect(policy.replace(String(token_endpoint), '')).not.toMatch(/https?:/);
  });
});

describe('the retention', () => {
  it('says what it takes away before it is saved, and takes it away', async () => {
    const of = newName('team/retention');
    await reportCall(of, 'young', 'A young call');
    const start = {
      project_id: of,
      id: 'old',
      trace_id: 'old',
      op_name: 'a',
      started_at: '2026-01-01T00:00:00Z',
    };
    await post('/call/start', { start });
    const page = await openAs(ada, `settings?project=${encodeURIComponent(of)}&section=retention`);
    const days = page.getByLabel('Days that calls are kept');
    await days.fill('1.5');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('alert').getByText('enter a whole number above 0').waitFor();
    await days.fill('30');
    await page.getByRole('button', { name: 'Save' }).click();
    const dialog = page.getByRole('dialog', { name: 'Delete what is older?' });
    await dialog.getByText('1 call and 0 records of feedback are older').waitFor();
    const applied = page.waitForResponse('**/project/retention');
    await dialog.getByRole('button', { name: 'Save and delete' }).click();
    expect(await (await applied).json()).toMatchObject({ applied: { calls_due: 1 } });
    await page.getByRole('button', { name: 'Applied to 2 calls and 0 records of feedback…' }).waitFor();
    // The service takes minutes to be sure of all, and goes on from where it is.
    await page.reload();
    await expect.poll(() => days.inputValue()).toBe('30');
  });
});

describe('a project', () => {
  it('is deleted once its name is typed; what was interrupted goes on', async () => {
    const of = newName('team/deleted');
    await reportCall(of, 'deleted-call', 'A call');
    const page = await openAs(ada, `settings?project=${encodeURIComponent(of)}&section=delete`, {
      expected: /503/,
    });
    const button = page.getByRole('button', { name: 'Delete the project' });
    await page.getByLabel(`Type ${of} to confirm`).fill('team/shop');
    await page.getByRole('button', { name: 'Delete the project', disabled: true }).waitFor();
    await page.getByLabel(`Type ${of} to confirm`).fill(of);
    // The first request deletes a part, and the next one is lost.
    let count = 0;
    await page.route('**/project/delete', async (route) => {
      count++;
      if (count === 2) return route.fulfill({ status: 503, body: '{}' });
      const response = await route.fetch();
      return count === 1
        ? route.fulfill({ response, json: { ...(await response.json()), done: false } })
        : route.fulfill({ response });
    });
    await button.click();
    await page.getByRole('alert').getByText('A part is still there: go on to delete it.').waitFor();
    await page.getByRole('row', { name: 'calls 1' }).waitFor();
    await page.getByRole('button', { name: 'Go on deleting' }).click();
    await page.getByText(`${of} is deleted.`).waitFor();
    await page.getByRole('button', { name: 'All projects' }).click();
    await page.getByRole('link', { name: project }).waitFor();
    expect(await page.getByRole('link', { name: of }).count()).toBe(0);
  });
});

describe('the audit trail', () => {
  it('has who changed what, with what was there before, and is filtered', async () => {
    const of = newName('team/audited');
    await reportCall(of, 'audit-call', 'A call');
    for (const grants of [['read'], ['read', 'write']])
      await post('/members/set', { project_id: of, member: 'dora@example.com', grants });
    await post('/keys/create', { user: 'dora', grants: [`${of}:read`] });
    await post('/obj/create', {
      obj: {
        project_id: of,
        object_id: 'audited-alert',
        val: {
          _type: 'Alert',
          name: 'Audited alert',
          metric: { metric: 'error_count', aggregation: 'avg' },
          window_minutes: 5,
          direction: 'above',
          alert: 0.5,
          tell: [],
          enabled: false,
        },
      },
    });
    const page = await openAs(ada, `settings?project=${encodeURIComponent(of)}&section=audit`);
    const entries = page.getByRole('list', { name: 'Entries' });
    await entries.getByText('key.create').waitFor();
    await page.getByRole('button', { name: 'What changed: member.set dora@example.com' }).first().click();
    await page.getByRole('region', { name: 'What member.set changed' }).getByText('write').waitFor();
    // What was made has no line before it, and an alert goes by its name.
    await page.getByRole('button', { name: /^What changed: alert.set Audited alert/ }).click();
    const made = page.getByRole('region', { name: 'What alert.set changed' });
    await made.getByText('Audited alert').waitFor();
    expect(await made.locator('.removed').count()).toBe(0);
    const filters = page.getByRole('form', { name: 'Filter the audit trail' });
    await filters.getByLabel('Action').fill('key');
    // The suggestions go.
    await page.keyboard.press('Escape');
    await filters.getByRole('button', { name: 'Filter' }).click();
    await entries.getByText('member.set').first().waitFor({ state: 'detached' });
    expect(await entries.getByRole('listitem').count()).toBe(1);
    expect(page.url()).toContain('action=key');
    expect(await axeFaults(page)).toEqual({ light: [], dark: [], width: 360 });
  });
});
