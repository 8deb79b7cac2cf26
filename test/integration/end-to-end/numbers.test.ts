import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { runs, seed } from '../../support/run/sampling.ts';
import { type SharedService, sharedService } from '../../support/service/service.ts';

let service: SharedService;
beforeAll(async () => {
  service = await sharedService();
});

const project = '"project_id":"acme/numbers"';
const authorization = () => ({ authorization: `Basic ${btoa(`api:${service.key}`)}` });

/** POSTs text, for numbers to be as they are written. */
const send = async (path: string, body: string, accept = 'application/json'): Promise<string> => {
  const answer = await fetch(`${service.url}${path}`, {
    method: 'POST',
    headers: { ...authorization(), 'content-type': 'application/json', accept },
    body,
  });
  const text = await answer.text();
  expect(answer.status, text).toBe(200);
  return text;
};

const numbers = '{"a":1.0,"b":[-0,0.0,1E5,1.50,1e-05],"c":{"d":12345678901234567890,"e":9007199254740993}}';

const report = (id: string, inputs: string, output: string, usage = '{}') => `{"batch":[
  {"mode":"start","req":{"start":{${project},"id":"${id}","op_name":"op","started_at":"2026-10-01T00:00:00Z",
    "attributes":${numbers},"inputs":${inputs}}}},
  {"mode":"end","req":{"end":{${project},"id":"${id}","ended_at":"2026-10-01T00:00:01Z",
    "output":${output},"summary":{"n":2.0,"usage":{"m":${usage}}}}}}]}`;

const query = (id: string, more = '', accept?: string) =>
  send('/calls/stream_query', `{${project},"filter":{"call_ids":["${id}"]}${more}}`, accept);

describe('numbers of a call', () => {
  beforeAll(() =>
    send('/call/upsert_batch', report('exact', numbers, '3.0', '{"prompt_tokens":5.0,"requests":1}')),
  );

  it('come back as they were written, in JSON, in columns, and in CSV', async () => {
    const whole = await query('exact');
    for (const field of [`"attributes":${numbers}`, `"inputs":${numbers}`, '"output":3.0', '"n":2.0'])
      expect(whole).toContain(field);
    expect(whole).toContain('"usage":{"m":{"prompt_tokens":5.0,"requests":1}}');
    const columns = ',"columns":["inputs.c","inputs.b.4","output","summary.usage"]';
    expect(await query('exact', columns)).toContain(
      '"inputs":{"c":{"d":12345678901234567890,"e":9007199254740993},"b":[null,null,null,null,1e-05]}',
    );
    expect((await query('exact', columns, 'text/csv')).split('\n')[1]).toContain(
      '"{""d"":12345678901234567890,""e"":9007199254740993}"',
    );
    expect(await send('/call/read', `{${project},"id":"exact"}`)).toContain(`"inputs":${numbers}`);
  });

  it.each([
    ['{"$eq":[{"$getField":"inputs.c.d"},{"$literal":12345678901234567890}]}', true],
    ['{"$eq":[{"$getField":"inputs.c.d"},{"$literal":12345678901234567891}]}', false],
    ['{"$gt":[{"$getField":"inputs.c.d"},{"$literal":12345678901234567889}]}', true],
    ['{"$eq":[{"$getField":"inputs.a"},{"$literal":1}]}', true],
    ['{"$in":[{"$getField":"inputs.a"},[{"$literal":1}]]}', true],
    ['{"$in":[{"$getField":"inputs.c.e"},[{"$literal":9007199254740992}]]}', false],
    [
      '{"$eq":[{"$convert":{"input":{"$getField":"inputs.c.d"},"to":"string"}},{"$literal":"12345678901234567890"}]}',
      true,
    ],
    ['{"$contains":{"input":{"$getField":"inputs.b"},"substr":{"$literal":0}}}', true],
    ['{"$getField":"inputs.b.1"}', false],
  ])('are compared as numbers: %s is %s', async (expression, holds) => {
    const found = await query('exact', `,"query":{"$expr":${expression}},"columns":["id"]`);
    expect((JSON.parse(found) as unknown[]).length).toBe(holds ? 1 : 0);
  });

  it('count as tokens', async () => {
    const usage = await send('/calls/usage', `{${project},"call_ids":["exact"]}`);
    expect(usage).toContain('"prompt_tokens":5,');
  });

  it('come back whatever they are', async () => {
    const digits = fc.stringMatching(/^(0|[1-9][0-9]{0,24})$/);
    const fraction = fc.stringMatching(/^(\.[0-9]{1,20})?$/);
    const exponent = fc.stringMatching(/^([eE][+-]?[0-9]{1,2})?$/);
    const text = fc
      .tuple(fc.constantFrom('', '-'), digits, fraction, exponent)
      .map((parts) => parts.join(''));
    let id = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(text, { minLength: 1, maxLength: 40 }), text, async (list, output) => {
        const name = `any-${id++}`;
        await send('/call/upsert_batch', report(name, `{"list":[${list.join(',')}]}`, output));
        const found = await query(name);
        expect(found).toContain(`"inputs":{"list":[${list.join(',')}]}`);
        expect(found).toContain(`"output":${output},`);
      }),
      { numRuns: runs(8, 60), seed },
    );
  });

  it('may be written in any way where the schema has one of its own', async () => {
    const more = ',"limit":1.0,"offset":0e0';
    expect(JSON.parse(await query('exact', more))).toHaveLength(1);
  });
});

describe('numbers of objects and feedback', () => {
  it('come back, through refs too, and differ where they differ', async () => {
    const make = (val: string) => send('/obj/create', `{"obj":{${project},"object_id":"o","val":${val}}}`);
    const digests = [];
    for (const val of ['{"n":[1.0,98765432109876543210]}', '{"n":[1,98765432109876543210]}'])
      digests.push((JSON.parse(await make(val)) as { digest: string }).digest);
    expect(new Set(digests).size).toBe(2);
    const read = `{${project},"object_id":"o","digest":"${digests[0]}"}`;
    expect(await send('/obj/read', read)).toContain('"val":{"n":[1.0,98765432109876543210]}');
    const ref = `svc:///acme/numbers/object/o:${digests[0]}`;
    expect(await send('/refs/read_batch', `{"refs":["${ref}/attr/n/index/0"]}`)).toContain('{"vals":[1.0]}');
    await send('/call/upsert_batch', report('refs', `{"o":"${ref}"}`, 'null'));
    expect(await query('refs', ',"expand_columns":["inputs.o"]')).toContain(
      '"inputs":{"o":{"n":[1.0,98765432109876543210]}}',
    );
    const feedback = `{${project},"svc_ref":"svc:///acme/numbers/call/refs","feedback_type":"score","payload":{"s":0.0}}`;
    expect(await send('/feedback/create', feedback)).toContain('"payload":{"s":0.0}');
    expect(await send('/feedback/query', `{${project},"fields":["payload.s"]}`)).toContain('{"s":0.0}');
    expect(await query('refs', ',"include_feedback":true')).toContain('"payload":{"s":0.0}');
  });
});
