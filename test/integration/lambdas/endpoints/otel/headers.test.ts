import { readFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { agentsText } from '../../../../../api/agents.ts';
import { connectGuides } from '../../../../../api/shared/connect.ts';
import { reporterHeaders } from '../../../../../foundations/auth/reporter-key.ts';
import type { ProjectId } from '../../../../../foundations/wire/index.ts';
import { exportedHeaders } from '../../../../support/otel/otel-headers.ts';
import { type SharedService, sharedService } from '../../../../support/service/service.ts';
import { keyMaker } from '../../../security/credentials.ts';

const root = join(import.meta.dirname, '../../../../..');
const project = 'acme/shop' as ProjectId;
const to = { url: 'http://127.0.0.1:8787', project };

let service: SharedService;
let key: string;
beforeAll(async () => {
  service = await sharedService();
  using keys = keyMaker(service);
  key = await keys.granted(`${project}:write`);
});

/** Texts that say what to put into an exporter's environment or configuration. */
const texts = (): Readonly<Record<string, string>> => ({
  ...Object.fromEntries(
    [
      'README.md',
      'docs/opentelemetry.md',
      'docs/api.md',
      'docs/agents.md',
      'docs/construct.md',
      'examples/otel-agent.ts',
      'examples/opentelemetry/collector.yaml',
    ].map((name) => [name, readFileSync(join(root, name), 'utf8')]),
  ),
  'GET /agents.md': agentsText({ ...to, version: '1' }),
  Connect: connectGuides(to)
    .flatMap(({ steps }) => steps.map(({ code = '' }) => code))
    .join('\n'),
  grantReport: `OTEL_EXPORTER_OTLP_HEADERS='${reporterHeaders('svc_…', project)}'`,
});

/** The key and the project in the places that texts have for them. */
const filled = (text: string): string =>
  text
    .replaceAll(/svc_…|\$KEY|\$\{env:PENNYTRACE_KEY\}/g, key)
    .replaceAll(/demo\/weather|\$\{env:PENNYTRACE_PROJECT\}/g, project);

/** What each text has exporters send, as every kind of client reads it. */
const sent = (): { from: string; client: string; headers: Readonly<Record<string, string>> }[] =>
  Object.entries(texts()).flatMap(([from, text]) =>
    exportedHeaders(filled(text)).flatMap(({ headers }) =>
      Object.entries(headers).map(([client, clientHeaders]) => ({ from, client, headers: clientHeaders })),
    ),
  );

const taken = async (headers: Readonly<Record<string, string>>): Promise<number> => {
  const answer = await fetch(`${service.url}/otel/v1/traces`, {
    method: 'POST',
    headers: { project_id: project, ...headers, 'content-type': 'application/json' },
    body: '{"resourceSpans":[{}]}',
  });
  await answer.arrayBuffer();
  return answer.status;
};

describe('the headers that our texts have exporters send', () => {
  it('are in every text that says how to report', () => {
    expect([...new Set(sent().map(({ from }) => from))]).toEqual([
      'README.md',
      'docs/opentelemetry.md',
      'docs/api.md',
      'examples/otel-agent.ts',
      'examples/opentelemetry/collector.yaml',
      'GET /agents.md',
      'Connect',
      'grantReport',
    ]);
  });

  it('are taken from every client, whether it decodes them or not', async () => {
    for (const { from, client, headers } of sent())
      expect([from, client, await taken(headers)]).toEqual([from, client, 200]);
  });

  it('name the project as it is', () => {
    for (const { from, client, headers } of sent())
      expect([from, client, headers.project_id ?? project]).toEqual([from, client, project]);
  });
});

describe("the exporter of OpenTelemetry's SDK", () => {
  const seen: IncomingHttpHeaders[] = [];
  const server = createServer((request, response) => {
    seen.push(request.headers);
    request.resume();
    response.end();
  });
  beforeAll(() => new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening)));
  afterAll(() => server.close());

  it('sends the headers as this test reads them', async () => {
    const value = reporterHeaders(key, project);
    process.env.OTEL_EXPORTER_OTLP_ENDPOINT = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    process.env.OTEL_EXPORTER_OTLP_HEADERS = value;
    const exporter = new OTLPTraceExporter();
    delete process.env.OTEL_EXPORTER_OTLP_ENDPOINT;
    delete process.env.OTEL_EXPORTER_OTLP_HEADERS;
    await new Promise((done) => exporter.export([], done));
    await exporter.shutdown();
    const [expected] = exportedHeaders(`OTEL_EXPORTER_OTLP_HEADERS='${value}'`);
    expect(seen.at(-1)).toMatchObject(expected?.headers.JavaScript ?? {});
  });
});
