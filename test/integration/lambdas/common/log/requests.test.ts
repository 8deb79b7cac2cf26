import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { inSources } from '../../../../../lambdas/common/log/request-log.ts';
import { bundle } from '../../../../../lib/bundles.ts';
import { root, temporaryFolder } from '../../../../support/run/project.ts';
import { findLine as loggedLineOf } from '../../../../support/service/log-lines.ts';
import { type SharedService, sharedService } from '../../../../support/service/service.ts';

let service: SharedService;
beforeAll(async () => {
  service = await sharedService();
});

const findLine = async (answer: Response): Promise<Record<string, unknown>> => {
  await answer.text();
  return loggedLineOf(service, answer);
};

const project_id = 'acme/logged';
const start = (id: string) => ({
  start: {
    project_id,
    id,
    op_name: 'greet',
    started_at: '2026-10-01T00:00:00Z',
    inputs: { text: 'my payload, too long for a row of a list '.repeat(50) },
  },
});

describe('the log', () => {
  it('has a line for a write, with what it wrote and used', async () => {
    const batch = ['a', 'b'].map((id) => ({ mode: 'start', req: start(id) }));
    const line = await findLine(await service.post('/call/upsert_batch', { batch }));
    expect(line).toMatchObject({
      level: 'info',
      route: '/call/upsert_batch',
      outcome: 'answered',
      status: 200,
      projects: [project_id],
      rows: 2,
      throttled: 0,
    });
    expect(line.writeUnits).toBeGreaterThan(0);
    expect(line.bytes).toBeGreaterThan(10);
  });

  it('has a line for a buffered answer, with its size', async () => {
    const answer = await service.post('/call/start', start('c'));
    const { length } = await answer.clone().text();
    expect(await findLine(answer)).toMatchObject({ route: '/call/start', rows: 1, bytes: length });
  });

  it('has a line for a query, with its plan and what it read', async () => {
    const answer = await service.post('/calls/stream_query', { project_id, limit: 1 });
    expect(await findLine(answer)).toMatchObject({
      plan: { source: expect.any(String) },
      rows: 1,
      scanned: expect.any(Number),
      hydrated: 1,
    });
  });

  it('has a line for a refused request, with the position of the problem but not its value', async () => {
    const body = { project_id, 'my secret field': 1, limit: 'my secret value' };
    const line = await findLine(await service.post('/calls/stream_query', body));
    expect(line).toMatchObject({ level: 'info', outcome: 'refused', status: 422, failed: 0 });
    expect(line.errors).toContainEqual({ type: 'extra_forbidden', loc: 'body.*' });
    expect(line.errors).toContainEqual({ type: 'int_type', loc: 'body.limit' });
    expect(JSON.stringify(line)).not.toContain('secret');
  });

  it('leads from the answer to the lines that Lambda itself writes', async () => {
    const answer = await service.post('/call/read', { project_id, id: 'a' });
    const { requestId, lambdaRequestId } = await findLine(answer);
    expect(lambdaRequestId).toMatch(/^[0-9a-f-]{36}$/);
    expect(requestId).toBe(answer.headers.get('x-request-id'));
  });
});

it('No line contains a payload or a key', async () => {
  await findLine(await service.post('/call/start', start('d')));
  await findLine(await service.post('/call/read', { project_id, id: 'd' }));
  const [, , secret = 'no key'] = service.key.split('_');
  const log = service.logged.join('\n');
  expect(log).toContain('"outcome":"answered"');
  for (const text of ['my payload', secret, 'Basic ']) expect(log).not.toContain(text);
});

/** Bundles a handler that throws where it says so, and gives the stack of its error. */
const stackOfBundle = async (): Promise<{ stack: string; file: string }> => {
  const project = temporaryFolder();
  mkdirSync(join(project, 'lambdas/endpoints/call'), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(project, 'node_modules'));
  const source = [
    '// a line',
    'export const handler = (name: string): never => {',
    '  throw new Error(name);',
    '};',
  ];
  writeFileSync(join(project, 'lambdas/endpoints/call/start.ts'), source.join('\n'));
  await bundle({ root: project, handlers: ['call/start'], outdir: join(project, 'out') });
  const file = join(project, 'out/call/start/index.cjs');
  const script = `try { require(${JSON.stringify(file)}).handler('as it should') } catch (error) { console.log(error.stack) }`;
  return { stack: execFileSync(process.execPath, ['--eval', script], { encoding: 'utf8' }), file };
};

describe('a stack trace in the sources', () => {
  it('names the source, line and column of what was bundled', async () => {
    const { stack, file } = await stackOfBundle();
    expect(stack).toContain(file);
    const mapped = inSources(stack);
    expect(mapped).toContain('Error: as it should');
    expect(mapped).toContain('lambdas/endpoints/call/start.ts:3:9');
    expect(mapped).not.toContain(file);
  });

  it('keeps lines without a map unchanged', () => {
    const stack = 'Error: no\n    at f (/nowhere/index.cjs:1:20)\n    at node:internal/timers:5:6';
    expect(inSources(stack)).toBe(stack);
  });
});
