import { expect, it } from 'vitest';
import { isPage } from '../../../api/endpoint.ts';
import { routes } from '../../../api/routes.ts';
import { readText, toLines } from '../../support/documents/documents.ts';

const endpoints = routes.filter((route) => !isPage(route));

it('docs/api-reference.md has a section for each operation', () => {
  const headings = toLines(readText('docs/api-reference.md'))
    .map(({ text }) => text)
    .filter((text) => text.startsWith('### `'));
  const expected = endpoints.flatMap(({ method, path, operations, byGet }) => [
    ...operations.map(({ operationPath = path }) => `### \`${method} ${operationPath}\``),
    ...(byGet ? [`### \`GET ${path}\``] : []),
  ]);
  expect(headings.toSorted()).toEqual(expected.toSorted());
});
