import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { run } from '../../../bin/limits.ts';
import { getTableName } from '../../../local/stack.ts';
import { startService, type TestService } from '../../support/service/service.ts';

const project = 'acme/limited';

let service: TestService;
let root: string;
beforeAll(async () => {
  service = await startService();
  root = await mkdtemp(join(tmpdir(), 'limits-'));
  await mkdir(join(root, '.local'));
  const { port, dynamodb, credentials, stack } = service;
  const names = ['keys', 'objects', 'bookkeeping', 'audit'] as const;
  const tables = Object.fromEntries(names.map((name) => [name, getTableName(stack, name)]));
  const written = { pid: process.pid, service: 'svc', authorizerCacheSeconds: 60, dynamodb, credentials };
  await writeFile(join(root, '.local', `${port}.json`), JSON.stringify({ ...written, tables }));
});
afterAll(async () => {
  await service.stop();
  await rm(root, { recursive: true });
});

const limits = async (argv: string) => {
  const out: string[] = [];
  const err: string[] = [];
  const io = { out: (line: string) => out.push(line), err: (line: string) => err.push(line), root };
  const code = await run(`${argv} --local=${service.port}`.split(' '), io);
  return { code, out: out.join('\n'), err: err.join('\n') };
};

describe('the command for limits', () => {
  it('sets the limits of a project as the service reads them, and shows them', async () => {
    expect((await limits(`show --project ${project}`)).out).toBe(`${project} has no limits`);
    const { code, out } = await limits(`set --project ${project} --usd-per-day 5 --usd-per-month 50.5`);
    expect(code).toBe(0);
    expect(out).toMatch(
      /^acme\/limited: \$5 a day, of which \$0 is spent; it resets at .*\nacme\/limited: \$50.5 a month/,
    );
    const read = { project_id: project, object_id: 'limits', digest: 'latest' };
    expect(await (await service.post('/obj/read', read)).json()).toMatchObject({
      obj: {
        base_object_class: 'Limits',
        val: { _type: 'Limits', usd_per_day: 5, usd_per_month: 50.5, saved_at: expect.any(String) },
      },
    });
  });

  it('puts what it sets on the audit trail, with what was there before', async () => {
    const audited = 'acme/audited';
    await limits(`set --project ${audited} --usd-per-day 5`);
    expect((await limits(`set --project ${audited} --usd-per-day 6`)).err).toBe('');
    const asked = { project_id: audited, start: '2020-01-01', end: '2100-01-01' };
    const { records } = (await (await service.post('/audit/query', asked)).json()) as { records: object[] };
    expect(records).toMatchObject([
      {
        action: 'limits.set',
        actor: { kind: 'operator', user: 'local' },
        address: null,
        before: { usd_per_day: 5 },
        after: { usd_per_day: 6 },
      },
      { action: 'limits.set', after: { usd_per_day: 5 } },
    ]);
  });

  it('sets the limit of each end user', async () => {
    const { out } = await limits(`set --project ${project} --usd-per-day-per-user 0.5`);
    expect(out).toBe(`${project}: $0.5 a day for each end user`);
  });

  it('lifts what is left out', async () => {
    await limits(`set --project ${project} --usd-per-day 5`);
    expect((await limits(`set --project ${project}`)).out).toBe(`${project} has no limits`);
  });

  it.each([
    ['set', 'name the project'],
    ['set --project acme', 'should be <entity>/<project>'],
    ['set --project acme/shop --usd-per-day five', 'should be dollars'],
    ['set --project acme/shop --usd-per-day 0', 'usd_per_day'],
    ['get --project acme/shop', 'should be set or show'],
  ])('is refused as %s', async (argv, message) => {
    const { code, err } = await limits(argv);
    expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining(message) });
  });
});
