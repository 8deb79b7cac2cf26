import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { run } from '../../../bin/webhooks.ts';
import { webhooksIn } from '../../../core/workers/alerts/tell/index.ts';
import { requestBudget } from '../../../foundations/storage/index.ts';
import { parseProjectId } from '../../../foundations/wire/index.ts';
import { type SystemsManager, startSystemsManager } from '../../support/service/systems-manager.ts';

const prefix = '/pennytrace/Pennytrace/webhooks';
const slack = 'https://hooks.slack.com/services/T/B/secret';

let manager: SystemsManager;
beforeAll(async () => {
  manager = await startSystemsManager();
});
afterAll(() => manager[Symbol.asyncDispose]());
beforeEach(() => {
  vi.stubEnv('AWS_ENDPOINT_URL_SSM', manager.endpoint);
  vi.stubEnv('AWS_REGION', 'us-east-1');
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'test');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'test');
});
afterEach(() => vi.unstubAllEnvs());

const webhooks = async (argv: string, url = slack) => {
  const out: string[] = [];
  const err: string[] = [];
  const code = await run(argv.split(' '), {
    out: (line) => out.push(line),
    err: (line) => err.push(line),
    askUrl: async () => `${url}\n`,
  });
  return { code, out: out.join('\n'), err: err.join('\n') };
};

it('The command does not lead to an option that it has not', async () => {
  vi.stubEnv('AWS_REGION', '');
  vi.stubEnv('AWS_CONFIG_FILE', '/dev/null');
  const { code, err } = await webhooks('list --project acme/shop --stack Pennytrace');
  expect(code).toBe(1);
  expect(err).toBe('webhooks: no AWS region: set AWS_REGION to where the service is');
  expect(await webhooks('list --project acme/shop --local')).toEqual({
    code: 2,
    out: '',
    err: expect.stringContaining('the local service has its webhooks in the variable WEBHOOKS'),
  });
});

/** What the function of alerts finds. */
const found = async (project: string, name: string) => {
  const projectId = parseProjectId(project);
  if (!projectId) throw new Error(`${project} is no project`);
  const find = webhooksIn({ service: 'ssm', region: 'us-east-1', endpoint: manager.endpoint }, prefix);
  return find(projectId, name, requestBudget(5000));
};

describe('the command for webhooks', () => {
  const at = (project: string) => `--project ${project} --prefix ${prefix}`;

  it('keeps a URL and a key, which it shows once, for the project alone', async () => {
    const { code, out, err } = await webhooks(`create --name ops ${at('acme/shop')}`);
    expect(code).toBe(0);
    expect(out).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(err).not.toContain(out);
    expect(await found('acme/shop', 'ops')).toEqual({ url: slack, key: out });
    expect(await found('acme/other', 'ops')).toBeUndefined();
    expect(await found('acme/shop', 'other')).toBeUndefined();
  });

  it('replaces a webhook of the same name, with another key', async () => {
    const first = await webhooks(`create --name twice ${at('acme/shop')}`);
    const { out } = await webhooks(`create --name twice ${at('acme/shop')}`, `${slack}2`);
    expect(out).not.toBe(first.out);
    expect(await found('acme/shop', 'twice')).toEqual({ url: `${slack}2`, key: out });
  });

  it('lists names without what is secret, and never reads a value', async () => {
    for (const name of ['c', 'a', 'b']) await webhooks(`create --name ${name} ${at('acme/list')}`);
    const { out } = await webhooks(`list ${at('acme/list')}`);
    expect(out.split('\n').map((line) => line.split(' ')[0])).toEqual(['a', 'b', 'c']);
    expect(out).not.toContain('slack');
    expect((await webhooks(`list ${at('acme/none')}`)).out).toBe('no webhooks');
    expect(manager.asked.slice(-2)).not.toContain('GetParameter');
  });

  it('deletes a webhook, and says so if there is none', async () => {
    await webhooks(`create --name gone ${at('acme/shop')}`);
    expect((await webhooks(`delete --name gone ${at('acme/shop')}`)).code).toBe(0);
    expect(await found('acme/shop', 'gone')).toBeUndefined();
    expect(await webhooks(`delete --name gone ${at('acme/shop')}`)).toMatchObject({
      code: 1,
      err: 'webhooks: there is no such webhook: list shows the names',
    });
  });

  it.each([
    ['http://hooks.slack.com/services/secret', 'it does not begin with https://'],
    ['https://10.0.0.1/secret', 'its address is not public'],
    ['secret', 'it is not a URL'],
  ])('refuses the URL %s without repeating it', async (url, problem) => {
    const { code, err } = await webhooks(`create --name bad ${at('acme/shop')}`, url);
    expect(code).toBe(2);
    expect(err).toContain(problem);
    expect(err).not.toContain('secret');
    expect(await found('acme/shop', 'bad')).toBeUndefined();
  });

  it.each([
    ['create --project acme/shop', 'name the webhook'],
    ['create --name ../other --project acme/shop', 'should be 1 to 64 letters'],
    ['create --name ops', 'name the project'],
    ['create --name ops --project acme', 'should be <entity>/<project>'],
    ['list --project acme/shop --prefix webhooks', 'should be a path like'],
    ['list --project acme/shop --prefix /w --stack S', 'give one of them'],
    ['show', 'should be create, list or delete'],
  ])('is refused as %s', async (argv, message) => {
    const { code, err } = await webhooks(argv);
    expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining(message) });
  });
});
