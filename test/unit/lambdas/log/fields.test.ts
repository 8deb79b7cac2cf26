import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';

const root = resolve(import.meta.dirname, '../../../..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');

it('docs/operations.md has every field of a log line, in order, and no other', () => {
  const [, interfaceBody = ''] =
    /export interface LineFields \{(.*?)\n\}/s.exec(read('lambdas/log/fields.ts')) ?? [];
  const fields = [...interfaceBody.matchAll(/^ {2}readonly (\w+)\??:/gm)].map(([, name]) => name);
  const [, logs = ''] = /\n## Logs\n(.*?)\n### /s.exec(read('docs/operations.md')) ?? [];
  const rows = [...logs.matchAll(/^\| (`[^|]*) \|/gm)].flatMap(([, names = '']) => names.match(/\w+/g) ?? []);
  expect(rows).toEqual([...fields, '_aws']);
});
