import { afterAll, beforeAll, describe, it } from 'vitest';
import { description } from '../../support/documents/document.ts';
import { startService, type TestService } from '../../support/service/service.ts';
import { expectCleanLogs } from './probe.ts';
import { describeFuzz } from './suite.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

// Spans have a fuzz test of their own, made of their protobuf definitions, and so have tools.
const json = description.operations.filter(({ route }) => route.form !== 'otlp' && route.form !== 'rpc');
describeFuzz(
  () => service,
  description,
  json.map(({ path }) => path),
);

describe('the logs of these requests', () => {
  it('contain no key, no payload and no error', () => {
    expectCleanLogs(service);
  });
});
