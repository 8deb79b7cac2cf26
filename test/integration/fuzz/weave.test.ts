import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bytesDigest } from '../../../core/doors/weave/digest.ts';
import { document, errorProblems, operations, requestSchema } from '../../support/documents/document.ts';
import { repeatWith, runs, sample, seed } from '../../support/run/sampling.ts';
import { startService, type TestService, throughWeave } from '../../support/service/service.ts';
import { anyCharacter } from '../../support/values/arbitraries/character.ts';
import { toArbitrary } from '../../support/values/arbitrary.ts';
import { mutated } from '../../support/values/mutated.ts';
import { corpus } from './corpus.ts';
import { brokenForms, type Form, forms, wholeForms } from './forms.ts';
import { type Answer, credentials, expectCleanLogs, isWell, sendTo, spoilt, withCanary } from './probe.ts';

let service: TestService;
let weave: TestService;
beforeAll(async () => {
  service = await startService();
  weave = throughWeave(service);
});
afterAll(() => service.stop());

/** What requests may be answered with, whatever they are. */
const statuses = [200, 400, 403, 404, 409, 413, 415, 422];

/** Looks whether an answer is one of the door's, and an error in the shape of all errors. */
const check = (path: string, { status, text }: Answer, why: string): void => {
  expect(statuses, `${path} answers ${status}: ${text.slice(0, 300)}; ${why}`).toContain(status);
  if (status === 200) return;
  const problems = errorProblems(JSON.parse(text));
  expect(problems, `${path} answers ${text.slice(0, 300)}; ${why}`).toEqual([]);
};

/** The groups of our operations that the door has. */
const groups = ['calls', 'statistics', 'threads', 'objects', 'tables', 'costs', 'feedback'];
const shared = operations.flatMap(({ path, route }) => {
  const schema = requestSchema(path);
  return schema && groups.includes(route.tag) ? [{ path, schema }] : [];
});

/** Bodies of one of our endpoints stand for those that are like it. */
const bodyAt = (path: string) => requestSchema(path) ?? expect.fail(`${path} takes no body`);
const others = [
  { path: '/v2/acme/shop/calls/complete', schema: bodyAt('/call/upsert_batch') },
  { path: '/v2/acme/shop/call/start', schema: bodyAt('/call/start') },
  { path: '/v2/acme/shop/call/end', schema: bodyAt('/call/end') },
  { path: '/trace/usage', schema: bodyAt('/calls/query_stats') },
  { path: '/table/create_from_digests', schema: bodyAt('/table/query_stats') },
  { path: '/objs/x%20y/aliases/remove', schema: bodyAt('/obj/read') },
  { path: '/feedback/payload_schema', schema: bodyAt('/feedback/stats') },
];

describe.each([...shared, ...others])('$path', ({ path, schema }) => {
  it('answers any request, and says what is wrong in the shape of all errors', {}, async () => {
    const valid = toArbitrary(schema, document).map(withCanary);
    const text = (value: unknown): string => JSON.stringify(value);
    const bodies = fc.oneof(valid.map(text), mutated(valid).map(text), spoilt(valid.map(text)));
    const headers = { authorization: credentials(service, '/call/start') };
    for (const body of fc.sample(bodies, { numRuns: runs(4, 48), seed }))
      check(path, await sendTo(weave.url, { path, body, headers }), `${repeatWith}, body ${body.toString()}`);
    for (const [name, body] of sample(corpus, 4, path))
      check(path, await sendTo(weave.url, { path, body, headers }), name);
    await isWell(service);
  });
});

describe.each(['/aliases', '/tags'])('GET %s', (path) => {
  it('answers any query', async () => {
    const text = fc.oneof(
      fc.constantFrom('acme/shop', '%', '%ff', '', '../..'),
      fc.string({ unit: anyCharacter }),
    );
    const queries = fc.oneof(
      text.map((value) => `?project_id=${encodeURIComponent(value.toWellFormed())}`),
      text.map((value) => `?${encodeURIComponent(value.toWellFormed())}`),
      fc.constantFrom('', '?project_id=acme%2Fshop&project_id=umbrella%2Fshop', '?project_id=%ff', '?%'),
    );
    for (const query of fc.sample(queries, { numRuns: runs(8, 60), seed })) {
      const headers = { authorization: credentials(service, '/call/start') };
      const answer = await sendTo(weave.url, { path: path + query, method: 'GET', headers });
      check(path, answer, `${repeatWith}, ${query}`);
    }
  });
});

const upload = ({ type, body }: Form) =>
  sendTo(weave.url, {
    path: '/file/create',
    body,
    headers: { authorization: credentials(service, '/file/create'), 'content-type': type },
  });

describe('/file/create', () => {
  const project = 'acme/fuzz';

  it('takes a form in any shape that its standard allows, and keeps each byte', async () => {
    for (const { file, ...form } of fc.sample(wholeForms(project), { numRuns: runs(15, 120), seed })) {
      const { status, text } = await upload(form);
      const why = `${repeatWith}, ${form.type} ${form.body.toString('base64')}`;
      expect([status, JSON.parse(text)], why).toEqual([200, { digest: bytesDigest(file) }]);
    }
  });

  it('answers any form', async () => {
    for (const form of fc.sample(forms(project), { numRuns: runs(25, 200), seed }))
      check(
        '/file/create',
        await upload(form),
        `${repeatWith}, ${form.type} ${form.body.toString('base64')}`,
      );
    await isWell(service);
  });

  it('answers forms that broke other parsers', async () => {
    for (const [name, form] of brokenForms) check('/file/create', await upload(form), name);
    await isWell(service);
  });
});

describe('the logs of these requests', () => {
  it('contain no key, no payload and no error', () => {
    expectCleanLogs(service);
  });
});
