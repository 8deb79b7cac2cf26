import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { paced } from '../../../support/run/pace.ts';
import { keyWith } from '../../../support/service/keys.ts';
import { startService, type TestService } from '../../../support/service/service.ts';
import { completion, json, startUpstream, type TestUpstream } from '../../../support/service/upstream.ts';
import { checking, politeness } from '../../../support/values/evaluators.ts';

/** Answers of the model `gpt-4o` wait for this. Other models answer at once. */
let slowAnswers = Promise.withResolvers<void>();
const polite = json(completion({ content: '{"reason": "It greets.", "value": true}' }));

let service: TestService;
let upstream: TestUpstream;
let hostileKey: string;
beforeAll(async () => {
  slowAnswers = Promise.withResolvers<void>();
  upstream = await startUpstream(async (request, res) => {
    if (request.body.model === 'gpt-4o') await slowAnswers.promise;
    return polite(request, res);
  });
  service = await startService({
    settings: { evaluators: { concurrency: 2 } },
    inference: { baseUrl: upstream.baseUrl, key: 'k' },
    maxWindowMs: 50,
    maxVisibilityMs: 2500,
  });
  hostileKey = await keyWith(service, { scope: 'attack/*', role: 'write' });
});
afterAll(async () => {
  slowAnswers.resolve();
  await service.stop();
  await upstream[Symbol.asyncDispose]();
});

const post = async (path: string, body: object, authorization?: string): Promise<Record<string, unknown>> => {
  const answer = await service.post(path, body, authorization ? { headers: { authorization } } : {});
  expect(answer.status, `${path}: ${await answer.clone().text()}`).toBe(200);
  return (await answer.json()) as Record<string, unknown>;
};

const save = (project_id: string, object_id: string, val: object, authorization?: string) =>
  post('/obj/create', { obj: { project_id, object_id, val } }, authorization);

/** Reports calls that have started and ended, with these outputs and inputs. */
const report = (
  project_id: string,
  outputs: readonly unknown[],
  authorization?: string,
  inputs: object = {},
) =>
  post(
    '/call/upsert_batch',
    {
      batch: outputs.flatMap((output, i) => {
        const id = `c${i}`;
        const at = { trace_id: id, op_name: 'chat', started_at: '2026-10-01T00:00:00Z' };
        return [
          { mode: 'start', req: { start: { project_id, id, ...at, inputs } } },
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

/** How many verdicts a project has, once there are so many. */
const countVerdicts = async (project_id: string, atLeast: number): Promise<number> => {
  const options = { timeout: paced(120_000), interval: 50 };
  await expect
    .poll(async () => (await verdictsIn(project_id)).length, options)
    .toBeGreaterThanOrEqual(atLeast);
  return (await verdictsIn(project_id)).length;
};

const tooLong = 'the check took longer than 250 ms';

/** Checks that are taken and take seconds or more for an output of 100,000 letters, or a deep one. */
const deeper = { properties: { a: { $ref: '#/$defs/deeper' } } };
const slow = {
  states: { regex: `(?i)${'\\pL{1000}'.repeat(100)}` },
  others: { regex: `${'[a-z]{900}'.repeat(90)}[0-9]` },
  doubling: { json_schema: { $defs: { deeper: { allOf: [deeper, deeper] } }, $ref: '#/$defs/deeper' } },
  again: { json_schema: { $defs: { deeper: { anyOf: [deeper, deeper, deeper] } }, $ref: '#/$defs/deeper' } },
};
const letters = 'a'.repeat(100_000);
const deep = `${'{"a":'.repeat(60)}1${'}'.repeat(60)}`;

describe('thirty calls with the slowest checks that are taken', () => {
  it(
    'get verdicts that say so, and another project does not wait for them',
    async () => {
      const attack = 'attack/one';
      const honest = 'acme/honest';
      for (const [name, check] of Object.entries(slow))
        await save(attack, name, checking(check, { name }), hostileKey);
      await save(honest, 'e', checking({ regex: '^Hel+o$' }));
      await report(attack, Array(15).fill([letters, deep]).flat(), hostileKey);
      // The attack is under way: two messages of its twelve are worked on, and ten wait.
      expect(await countVerdicts(attack, 1)).toBeLessThan(120);
      await report(honest, ['Hello']);
      await countVerdicts(honest, 1);
      expect(await verdictsIn(honest)).toMatchObject([{ payload: { value: true } }]);
      expect((await verdictsIn(attack)).length).toBeLessThan(120);
      expect(await countVerdicts(attack, 120)).toBe(120);
      const errors = (await verdictsIn(attack)).flatMap(({ payload }) => payload.error ?? []);
      expect(new Set(errors)).toEqual(new Set([tooLong]));
      // On a busy machine the others are too slow as well, for the time that their expressions take to compile.
      expect(errors.length).toBeGreaterThanOrEqual(60);
    },
    paced(300_000),
  );
});

describe('a query that asks for payloads', () => {
  it('selects the calls that are judged', async () => {
    const id = 'acme/asking';
    const query = { $expr: { $contains: { input: { $getField: 'output' }, substr: { $literal: 'yes' } } } };
    await save(id, 'e', checking({ contains: 'yes' }, { query }));
    await save(id, 'all', checking({ contains: 'yes' }, { name: 'all' }));
    await report(id, ['yes', 'no', 'oh yes']);
    await countVerdicts(id, 5);
    expect(
      (await verdictsIn(id)).filter(({ feedback_type }) => feedback_type === 'evaluation.checked'),
    ).toHaveLength(2);
  });

  it(
    'delays no other project',
    async () => {
      const attack = 'attack/two';
      const honest = 'acme/patient';
      const query = {
        $expr: { $contains: { input: { $getField: 'output' }, substr: { $getField: 'inputs.q' } } },
      };
      await save(attack, 'e', checking({ contains: 'x' }, { query }), hostileKey);
      await save(honest, 'e', checking({ contains: 'Hello' }));
      // A search takes V8 the product of both lengths: half a minute for each of these calls.
      const half = 'a'.repeat(100_000);
      const inputs = { q: `${half}b${half}` };
      for (let i = 0; i < 4; i++) await report(attack, ['a'.repeat(1_000_000)], hostileKey, inputs);
      await report(honest, ['Hello']);
      await countVerdicts(honest, 1);
      expect(await verdictsIn(attack)).toEqual([]);
    },
    paced(300_000),
  );
});

describe('judges that do not answer', () => {
  const slowly = () => upstream.requests.filter(({ body }) => body.model === 'gpt-4o').length;

  it(
    'leave places for the judges of other projects, and hold up no check of their own',
    async () => {
      const slow = 'attack/three';
      const honest = 'acme/judged';
      const judge = { ...politeness().judge, model: 'gpt-4o' };
      const filter = { op_names: ['chat'] };
      await save(slow, 'e', politeness({ name: 'slow', judge, filter, max_usd_per_day: 100 }));
      await save(slow, 'c', checking({ contains: 'Hello' }, { filter }));
      await save(honest, 'e', politeness());
      await report(slow, Array(40).fill('Hello'));
      // Eight messages, which two functions work on. All checks are done while a message of judges waits.
      await expect.poll(slowly).toBeGreaterThan(0);
      expect(await countVerdicts(slow, 40)).toBe(40);
      await report(honest, ['Hello']);
      await countVerdicts(honest, 1);
      expect(await verdictsIn(honest)).toMatchObject([{ payload: { value: true } }]);
      expect(slowly()).toBeLessThanOrEqual(10);
      expect(new Set((await verdictsIn(slow)).map(({ feedback_type }) => feedback_type))).toEqual(
        new Set(['evaluation.checked']),
      );
      slowAnswers.resolve();
      // Those that waited are judged, each once.
      expect(await countVerdicts(slow, 80)).toBe(80);
      expect(slowly()).toBe(40);
    },
    paced(300_000),
  );
});

it('nothing failed or became a dead letter', () => {
  expect(service.bus.letters).toEqual([]);
  expect(service.logged.filter((line) => /"level":"error"|^streams:|^store:/.test(line))).toEqual([]);
});
