import { expect, it } from 'vitest';
import { openApiDocument } from '../../../api/openapi/index.ts';
import { apiReference } from '../../../bin/api-reference.ts';
import { readText } from '../../support/documents/documents.ts';

it('docs/api-reference.md is generated from the schemas of today', () => {
  const file = 'docs/api-reference.md';
  expect(readText(file), 'write it with `npm run generate`').toBe(apiReference());
});

it('the reference has each description of a field that the OpenAPI document has', () => {
  const { schemas } = openApiDocument('').components;
  const reference = apiReference();
  // The operators of the query language are explained in docs/api.md.
  const missing = Object.entries(schemas)
    .filter(([name]) => !/(?:Operation|Contains|Convert)$/.test(name))
    .flatMap(([name, { properties = {} }]) =>
      Object.entries(properties).map(([field, schema]) => ({
        place: `${name}.${field}`,
        description: typeof schema === 'object' ? (schema.description ?? '') : '',
      })),
    )
    .filter(({ description }) => !reference.includes(description.replaceAll('|', '\\|')))
    .map(({ place }) => place);
  expect(missing).toEqual([]);
});
