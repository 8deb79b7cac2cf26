import { expect, it } from 'vitest';
import { isPage } from '../../../api/endpoint.ts';
import { routes } from '../../../api/routes.ts';
import { settings } from '../../../lib/config.ts';
import { readText, toLines } from '../../support/documents/documents.ts';

/** Every piece of code in the changelog's text, of all releases: `/call/start`, `xray`. */
const pieces = toLines(readText('CHANGELOG.md'))
  .filter(({ code }) => !code)
  .flatMap(({ text }) => [...text.matchAll(/`([^`]+)`/g)].map(([, piece = '']) => piece));

/** Whether a piece of code is this name, or has it beside others: `POST /call/start`. */
const names = (name: string): boolean => pieces.some((piece) => piece.split(/[\s?:,]+/).includes(name));

it('the changelog names every endpoint', () => {
  const missing = routes
    .filter((route) => !isPage(route) && !names(route.path.replace('{path+}', 'chat/completions')))
    .map(({ method, path, operations }) => `- \`${method} ${path}\`: ${operations[0]?.summary ?? '…'}`);
  expect(missing, 'write such a line below *Unreleased* in CHANGELOG.md').toEqual([]);
});

it('the changelog names every setting', () => {
  const missing = Object.keys(settings.shape)
    .filter((name) => !names(name))
    .map((name) => `- Setting \`${name}\`: …`);
  expect(missing, 'write such a line below *Unreleased* in CHANGELOG.md').toEqual([]);
});
