import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { build } from 'esbuild';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { root } from '../../bin/common.ts';
import { basic, keyMaker } from '../integration/security/credentials.ts';
import { newName } from '../support/run/new-name.ts';
import { startService, type TestService } from '../support/service/service.ts';
import { useBrowser } from './support/visit.ts';

const visit = useBrowser();
/** Each try reports to a project of its own. */
let project: string;

/** A program of a page: reports one span, and says what became of it. */
const program = `
  import { ExportResultCode } from '@opentelemetry/core';
  import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
  import { resourceFromAttributes } from '@opentelemetry/resources';
  import { SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';

  window.report = ({ to, key, project, name }) =>
    new Promise((resolve) => {
      const headers = { authorization: 'Bearer ' + key, project_id: project };
      const exporter = new OTLPTraceExporter({ url: to + '/otel/v1/traces', headers });
      const send = exporter.export.bind(exporter);
      exporter.export = (spans, done) =>
        send(spans, (result) => {
          resolve(result.code === ExportResultCode.SUCCESS ? 'reported' : 'failed');
          done(result);
        });
      const provider = new TracerProvider({
        resource: resourceFromAttributes({}),
        spanProcessors: [new SimpleSpanProcessor({ exporter })],
      });
      provider.getTracer('shop').startSpan(name).end();
    });
`;

/** What a page of somebody calls; the tests are checked without the DOM's types. */
type Reporting = typeof globalThis & {
  report(span: { to: string; key: string; project: string; name: string }): Promise<string>;
};

const report = (span: Parameters<Reporting['report']>[0]) => (globalThis as Reporting).report(span);

/** A page of somebody else. Its server has two names, so two origins, and the setting has one of them. */
let site: Server;
let service: TestService;
let friend: string;
let stranger: string;
beforeAll(async () => {
  const { outputFiles } = await build({
    stdin: { contents: program, resolveDir: root },
    bundle: true,
    write: false,
    format: 'iife',
    platform: 'browser',
  });
  const page = `<title>Shop</title><script>${outputFiles[0]?.text.replaceAll('</script', '<\\/script')}</script>`;
  site = createServer((_, res) => res.setHeader('content-type', 'text/html').end(page));
  site.listen(0, '127.0.0.1');
  await once(site, 'listening');
  const address = site.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  friend = `http://localhost:${port}`;
  stranger = `http://127.0.0.1:${port}`;
  service = await startService({ settings: { corsOrigins: [friend] } });
});
afterAll(async () => {
  site.close();
  await service.stop();
});

/** A request of a page, as `fetch` sends it: its status, and what it reads of the answer. */
const ask = async ({ url, authorization, body }: { url: string; authorization: string; body: object }) => {
  const headers = { authorization, 'content-type': 'application/json' };
  const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
  return { status: answer.status, text: (await answer.text()).trim() };
};

const reportedNames = async (): Promise<string[]> => {
  const answer = await service.post('/calls/stream_query', { project_id: project });
  const lines = (await answer.text()).trim();
  return lines === '' ? [] : lines.split('\n').map((line) => JSON.parse(line).op_name);
};

it('a page of an origin in the setting reports by OpenTelemetry, and one of another cannot', async () => {
  project = newName('acme/pages');
  const { url: to, key } = service;
  const page = await visit('', { base: friend, signedIn: false, expected: /favicon|403|CORS|failed/i });
  const methods: string[] = [];
  page.on('request', (request) => {
    if (request.url().startsWith(to)) methods.push(request.method());
  });
  expect(await page.evaluate(report, { to, key, project, name: 'opened' })).toBe('reported');
  expect(methods).toContain('POST');

  await page.goto(stranger);
  expect(await page.evaluate(report, { to, key, project, name: 'forged' })).toBe('failed');
  expect(await reportedNames()).toEqual(['opened']);
});

it('a page with a key that may only report adds spans, calls and feedback, and reads none of it', async () => {
  project = newName('acme/pages');
  using keys = keyMaker(service);
  const { url: to } = service;
  const key = await keys.granted(`${project}:report`);
  const page = await visit('', { base: friend, signedIn: false, expected: /favicon|403/i });
  const send = (path: string, body: object) =>
    page.evaluate(ask, { url: to + path, authorization: basic(key), body });
  expect(await page.evaluate(report, { to, key, project, name: 'opened' })).toBe('reported');
  const start = {
    project_id: project,
    id: 'c',
    trace_id: 't',
    op_name: 'clicked',
    started_at: '2026-10-01T00:00:00Z',
  };
  expect(await send('/call/start', { start })).toEqual({ status: 200, text: '{"id":"c","trace_id":"t"}' });
  const end = { project_id: project, id: 'c', ended_at: '2026-10-01T00:00:01Z' };
  expect(await send('/call/end', { end })).toEqual({ status: 200, text: '{}' });
  const feedback = {
    project_id: project,
    svc_ref: `svc:///${project}/call/c`,
    feedback_type: 'reaction',
    payload: {},
  };
  expect(await send('/feedback/create', feedback)).toMatchObject({ status: 200 });

  for (const path of [
    '/calls/stream_query',
    '/calls/query_stats',
    '/feedback/query',
    '/threads/stream_query',
  ])
    expect(await send(path, { project_id: project })).toEqual({
      status: 403,
      text: expect.stringContaining(`this key may not read the project ${project}`),
    });
  expect((await reportedNames()).toSorted()).toEqual(['clicked', 'opened']);
});
