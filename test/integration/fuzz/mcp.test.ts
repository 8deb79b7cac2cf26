import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listedTools } from '../../../api/openapi/index.ts';
import { mcpHeaders, toolCall } from '../../support/endpoints/agents.ts';
import { calls, report } from '../../support/endpoints/scenario.ts';
import { repeatWith, runs, sample, seed } from '../../support/run/sampling.ts';
import { startService, type TestService } from '../../support/service/service.ts';
import { toArbitrary } from '../../support/values/arbitrary.ts';
import { mutated } from '../../support/values/mutated.ts';
import { corpus } from './corpus.ts';
import { type Answer, listSecrets, sendTo } from './probe.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService();
  const { path, body } = report(...calls('acme/shop', 20));
  expect((await service.post(path, body)).status).toBe(200);
});
afterAll(() => service.stop());

const send = (body: string | Buffer): Promise<Answer> =>
  sendTo(service.url, {
    path: '/mcp',
    body,
    headers: { authorization: `Bearer ${service.key}`, ...mcpHeaders },
  });

/** Names that calls of the project have, so that tools find something. */
const known = {
  project_id: 'acme/shop',
  call_id: '1',
  trace_id: 'trace',
  thread_id: 'thread',
  a: '1',
  b: '2',
};

/** The characters that a call of a tool allows. Others than there may be are refused, in the usual length. */
const getBudget = ({ max_characters: asked }: { readonly max_characters?: unknown }): number =>
  typeof asked === 'number' && asked >= 1000 && asked <= 100_000 ? asked : 20_000;

describe.each(listedTools().map(({ name, inputSchema }) => ({ name, inputSchema })))(
  '$name',
  ({ name, inputSchema }) => {
    const valid = toArbitrary(inputSchema as Parameters<typeof toArbitrary>[0]).map((args) => {
      const all = args as Record<string, unknown>;
      const names = Object.entries(known).filter(([field]) => field in (inputSchema.properties ?? {}));
      return { ...all, ...Object.fromEntries(names) };
    });
    const all = fc.oneof({ weight: 3, arbitrary: valid }, { weight: 1, arbitrary: mutated(valid) });

    it('answers any arguments with a result that keeps to its budget', async () => {
      for (const args of fc.sample(all, { numRuns: runs(6, 150), seed })) {
        const message = JSON.stringify(toolCall(name, args as object));
        const { status, text } = await send(message);
        const why = `${repeatWith}, ${message}`;
        // Arguments that are no object are no message of the protocol.
        expect([200, 400], why).toContain(status);
        const { result, error } = JSON.parse(text) as { result?: object; error?: object };
        if (result) expect(JSON.stringify(result).length, why).toBeLessThanOrEqual(getBudget(args as object));
        else expect(error, why).toMatchObject({ code: expect.any(Number), message: expect.any(String) });
      }
    });
  },
);

describe('a body that is no message', () => {
  it.each(sample(corpus, 12, '/mcp'))('such as %s is answered in JSON', async (_, body) => {
    const { status, text } = await send(body);
    expect(status).toBeGreaterThanOrEqual(200);
    expect(status).toBeLessThan(500);
    if (text !== '') JSON.parse(text);
  });
});

describe('the logs of these requests', () => {
  it('contain no key and no error', () => {
    for (const secret of listSecrets(service))
      expect(service.logged.filter((line) => line.includes(secret))).toEqual([]);
    expect(service.logged.filter((line) => line.includes('"level":"error"'))).toEqual([]);
  });
});
