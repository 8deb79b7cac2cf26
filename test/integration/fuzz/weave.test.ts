import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { weaveRoutes } from '../../../weave/api/routes.ts';
import { bytesDigest } from '../../../weave/digest.ts';
import { anyCharacter } from '../../support/arbitraries/character.ts';
import { documentOf } from '../../support/document.ts';
import { repeatWith, runs, seed } from '../../support/sampling.ts';
import { startService, type TestService } from '../../support/service.ts';
import { brokenForms, type Form, forms, wholeForms } from './forms.ts';
import { checker, credentials, expectCleanLogs, isWell, sendTo } from './probe.ts';
import { describeFuzz } from './suite.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService({ settings: { dialect: 'weave' } });
});
afterAll(() => service.stop());

const said = documentOf('weave');
const isOwn = (path: string): boolean => weaveRoutes.some((route) => route.path === path);
const json = said.operations.filter(({ route }) => route.form !== 'otlp').map(({ path }) => path);
describeFuzz(() => service, said, json.filter(isOwn), { bodies: runs(4, 48), most: 4 });
describe.each(['/aliases', '/tags'])('GET %s', (path) => {
  it('answers any query as documented', async () => {
    const check = checker(said, service);
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
      const headers = { authorization: credentials(service, path) };
      const answer = await sendTo(service.url, { path: path + query, method: 'GET', headers });
      check(path, answer, `${repeatWith}, ${query}`);
    }
  });
});

const upload = ({ type, body }: Form) =>
  sendTo(service.url, {
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

  it('answers any form as documented', async () => {
    const check = checker(said, service);
    for (const form of fc.sample(forms(project), { numRuns: runs(25, 200), seed }))
      check(
        '/file/create',
        await upload(form),
        `${repeatWith}, ${form.type} ${form.body.toString('base64')}`,
      );
    await isWell(service);
  });

  it('answers forms that broke other parsers', async () => {
    const check = checker(said, service);
    for (const [name, form] of brokenForms) check('/file/create', await upload(form), name);
    await isWell(service);
  });
});

describe('the logs of these requests', () => {
  it('contain no key, no payload and no error', () => {
    expectCleanLogs(service);
  });
});
