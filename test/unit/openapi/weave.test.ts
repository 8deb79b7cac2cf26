import { createConfig, lintFromString } from '@redocly/openapi-core';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { describe, expect, it } from 'vitest';
import { isPage } from '../../../api/endpoint.ts';
import { openApiDocument } from '../../../openapi/index.ts';
import { routesOf, weaveRoutes } from '../../../weave/api/routes.ts';

const document = openApiDocument('0.1.0', 'weave');
const own = weaveRoutes.filter((route) => !isPage(route));

const operationAt = (path: string) => {
  const [operation] = Object.values(document.paths[path] ?? {});
  if (!operation) throw new Error(`the document has no ${path}`);
  return operation as typeof operation & { parameters?: { name: string; in: string; description: string }[] };
};

const ajv = new Ajv2020({ strict: false });
addFormats.default(ajv);
ajv.addSchema(document, 'document');

describe('the document of Weave’s dialect', () => {
  it('passes the linter', async () => {
    const config = await createConfig({ extends: ['recommended-strict'] });
    const problems = await lintFromString({ source: JSON.stringify(document), config });
    expect(problems.map(({ ruleId, message }) => `${ruleId}: ${message}`)).toEqual([]);
  });

  it('has the routes of all dialects and its own, which the default document lacks', () => {
    const paths = routesOf('weave')
      .filter((route) => !isPage(route) && !route.path.startsWith('/inference'))
      .map(({ path, method }) => `${method.toLowerCase()} ${path}`);
    const documented = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method} ${path}`),
    );
    expect(documented).toEqual(expect.arrayContaining(paths));
    const others = Object.keys(openApiDocument('0.1.0').paths);
    expect(others.filter((path) => own.some((route) => route.path === path))).toEqual([]);
  });

  it('takes fields that it does not know, and no operator that it does not know', () => {
    const accepts = (name: string, body: object) =>
      ajv.validate({ $ref: `document#/components/schemas/${name}` }, body);
    const project = { project_id: 'acme/shop' };
    const query = (operator: string) => ({ $expr: { [operator]: [{ $literal: 1 }, { $literal: 1 }] } });
    expect(accepts('CallsQueryReq', { ...project, later: true, filter: { later: [] } })).toBe(true);
    expect(accepts('CallsQueryReq', { ...project, query: query('$eq') })).toBe(true);
    expect(accepts('CallsQueryReq', { ...project, query: query('$later') })).toBe(false);
  });

  it('has the names of Weave', () => {
    const text = JSON.stringify(document);
    expect(text).toContain('"wb_run_step_end"');
    expect(text).toContain('"weave_ref"');
    expect(text).not.toContain('svc');
  });
});

describe.each(own)('$method $path', ({ path, method, takes, operations }) => {
  it('names each parameter of its path', () => {
    const inPath = (operationAt(path).parameters ?? []).filter((parameter) => parameter.in === 'path');
    const expected = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    expect(inPath.map(({ name }) => name)).toEqual(expected);
    for (const { description } of operationAt(path).parameters ?? []) expect(description).toBeTruthy();
  });

  // The body of a file is a form, which JSON Schema does not check.
  it.runIf(method !== 'GET' && takes !== 'form')('accepts its examples', () => {
    const content = operationAt(path).requestBody?.content['application/json'];
    const schema = JSON.parse(
      JSON.stringify(content?.schema ?? expect.unreachable('it takes JSON')).replaceAll('"#/', '"document#/'),
    );
    const validate = ajv.compile(schema);
    for (const operation of operations)
      for (const { body } of Object.values(operation.examples)) {
        validate(body);
        expect(validate.errors ?? []).toEqual([]);
      }
  });
});
