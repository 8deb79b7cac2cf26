import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import { openApiDocument, typesOf } from '../../../openapi/index.ts';

const file = resolve(import.meta.dirname, '../../../web/api/types.ts');

it('the page has the types of the present API: npm run web:types writes them', () => {
  expect(readFileSync(file, 'utf8')).toBe(typesOf(openApiDocument('0')));
});
