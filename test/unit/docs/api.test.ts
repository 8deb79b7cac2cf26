import { expect, it } from 'vitest';
import { isPage, type Route } from '../../../api/endpoint.ts';
import { routes } from '../../../api/routes.ts';
import { readText, toLines } from '../../support/documents/documents.ts';

/** A route as the page writes it. */
const written = ({ method, path }: Route): string => `\`${method} ${path.replace('/{path+}', '{path}')}\``;

it('docs/api.md lists every endpoint, and has a section for each', () => {
  const lines = toLines(readText('docs/api.md')).filter(({ code }) => !code);
  const table = lines.filter(({ text }) => text.startsWith('| [')).map(({ text }) => text);
  const headings = lines.filter(({ text }) => text.startsWith('#')).map(({ text }) => text);
  const missing = (places: readonly string[]) =>
    routes
      .filter((route) => !isPage(route))
      .map(written)
      .filter((route) => !places.some((place) => place.includes(route)));
  expect(missing(table)).toEqual([]);
  // The document's own section is called what it is.
  expect(missing(headings)).toEqual(['`GET /openapi.json`']);
});
