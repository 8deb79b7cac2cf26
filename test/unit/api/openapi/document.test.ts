import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { describe, expect, it } from 'vitest';
import { isPage, takesKey } from '../../../../api/endpoint.ts';
import { openApiDocument } from '../../../../api/openapi/index.ts';
import { routes } from '../../../../api/routes.ts';
import { endpoints } from '../../../../core/doors/inference/index.ts';
import {
  document,
  operationAt,
  operations,
  requestSchema,
  validator,
} from '../../../support/documents/document.ts';
import { root } from '../../../support/run/project.ts';
import { requires } from '../../../support/run/requirements.ts';

describe('the document', () => {
  it('passes the linter', async () => {
    const config = await createConfig({ extends: ['recommended-strict'] });
    const problems = await lintFromString({ source: JSON.stringify(document), config });
    expect(problems.map(({ ruleId, message }) => `${ruleId}: ${message}`)).toEqual([]);
  });

  it('has every route of the API with its method and scheme, and nothing else', () => {
    const inDocument = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { security }]) => [method, path, JSON.stringify(security)]),
    );
    const inList = routes
      .filter((route) => !isPage(route))
      .flatMap((route) => {
        const paths = route.path.endsWith('{path+}')
          ? Object.keys(endpoints).map((path) => route.path.replace('/{path+}', path))
          : [route.path.replace('+}', '}')];
        const schemes = takesKey(route) ? [route.scheme] : [];
        const security = schemes
          .flatMap(
            (scheme) =>
              ({ any: ['basic', 'bearer'], basic: ['basic'], bearer: ['bearer', 'apiKey'] })[scheme],
          )
          .map((scheme) => ({ [scheme]: [] }));
        const methods = [route.method.toLowerCase(), ...(route.byGet ? ['get'] : [])];
        return methods.flatMap((method) => paths.map((path) => [method, path, JSON.stringify(security)]));
      });
    expect(new Set(inDocument.map(String))).toEqual(new Set(inList.map(String)));
  });

  it('names the inference endpoints one by one', () => {
    const paths = Object.keys(document.paths).filter((path) => path.startsWith('/inference'));
    expect(paths.map((path) => path.slice('/inference/v1'.length))).toEqual([
      '/chat/completions',
      '/completions',
      '/embeddings',
      '/responses',
      '/messages',
      '/messages/count_tokens',
      '/models',
      '/models/{id}',
    ]);
  });

  it('describes every field of every request and answer', () => {
    const fields = Object.entries(document.components.schemas).flatMap(([name, { properties = {} }]) =>
      Object.entries(properties).map(([field, schema]) => [`${name}.${field}`, schema] as const),
    );
    const silent = fields.filter(
      ([name, schema]) => !name.includes('$') && !(typeof schema === 'object' && schema.description),
    );
    expect(fields.length).toBeGreaterThan(200);
    expect(silent.map(([name]) => name)).toEqual([]);
  });

  it('says that statistics name each field to group by once', () => {
    const schemaText = JSON.stringify(document.components.schemas.CallsStatsReq?.properties?.group_by);
    expect(schemaText).toContain('"maxItems":2');
    expect(schemaText).toContain('"uniqueItems":true');
  });

  it('says that purges are by id', () => {
    for (const name of ['FeedbackPurgeReq', 'CostPurgeReq'])
      expect(document.components.schemas[name]?.properties?.query).toMatchObject({
        description: expect.stringContaining('only by id'),
      });
  });

  // jq is on most machines, and no package of npm.
  it('has no anyOf in operators and purges after the line of the documents', requires('jq'), () => {
    const line = readFileSync(join(root, 'docs/api.md'), 'utf8').match(/^jq '(.+)' openapi\.json/m)?.[1];
    const { stdout } = spawnSync('jq', [line ?? ''], { input: JSON.stringify(document), encoding: 'utf8' });
    const { schemas } = (JSON.parse(stdout) as typeof document).components;
    const changed = Object.keys(schemas).filter((name) => /Operation$|^Purge/.test(name));
    expect(changed).toEqual(expect.arrayContaining(['CallOperation', 'PurgeQuery']));
    for (const name of changed) {
      const text = JSON.stringify(schemas[name]);
      expect(text).toContain('"oneOf"');
      expect(text).not.toContain('"anyOf"');
    }
  });

  it('is the same each time', () => {
    expect(openApiDocument('0.1.0')).toEqual(document);
  });

  it('contains no name of a table, bucket, function or folder', () => {
    expect(JSON.stringify(document)).not.toMatch(
      /arn:|amazonaws|dynamodb|\bS3\b|(?:Calls|Objects|Costs|Feedback|Keys|Rollups)Table|PayloadsBucket|lambdas\/|\/tmp/i,
    );
  });

  it('has a relative server URL, valid behind any name and stage', () => {
    expect(document).toMatchObject({ servers: [{ url: '.' }] });
  });
});

describe.each(operations)('$path', ({ path, route, operation }) => {
  const schema = requestSchema(path);

  it.runIf(schema)('accepts its examples', () => {
    const problems = validator(schema ?? {});
    for (const { body } of Object.values(operation.examples)) expect(problems(body)).toEqual([]);
  });

  it('names its possible errors, each by one component unless they are of OTLP or JSON-RPC', () => {
    const { responses } = operationAt(path);
    for (const status of ['429', '500', '502', '504'])
      expect(responses[status]).toEqual(
        route.form === 'otlp' || route.form === 'rpc'
          ? expect.objectContaining({ description: expect.any(String), content: expect.anything() })
          : { $ref: `#/components/responses/${status}` },
      );
  });
});
