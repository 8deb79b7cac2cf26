import { expect, it } from 'vitest';
import { isPage, type Route } from '../../../api/endpoint.ts';
import { routes } from '../../../api/routes.ts';
import { readText, toLines } from '../../support/documents/documents.ts';

/** A route as the page writes it. */
const written = ({ method, path }: Route): string => `\`${method} ${path.replace('/{path+}', '{path}')}\``;

const endpoints = routes.filter((route) => !isPage(route));

/** The lines of a document, without its code. */
const readLines = (document: string): readonly string[] =>
  toLines(readText(document))
    .filter(({ code }) => !code)
    .map(({ text }) => text);

it('docs/api.md lists every endpoint', () => {
  const table = readLines('docs/api.md').filter((text) => text.startsWith('| ['));
  const missing = endpoints.map(written).filter((name) => !table.some((row) => row.includes(name)));
  expect(missing).toEqual([]);
});

it('docs/api-reference.md has a section for each operation', () => {
  const headings = readLines('docs/api-reference.md').filter((text) => text.startsWith('### `'));
  const expected = endpoints.flatMap(({ method, path, operations }) =>
    operations.map(({ operationPath = path }) => `### \`${method} ${operationPath}\``),
  );
  expect(headings.toSorted()).toEqual(expected.toSorted());
});
