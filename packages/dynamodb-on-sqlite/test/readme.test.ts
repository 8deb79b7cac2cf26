import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const readText = (file: string): string => readFileSync(join(import.meta.dirname, '..', file), 'utf8');

it('The README says of the public suite what the last run of it has written', () => {
  const [, all, passed] = /^\| all \| (\d+) \| (\d+) \|/m.exec(readText('conformance.md')) ?? [];
  expect(readText('README.md')).toMatch(
    new RegExp(`has ${all} tests that were recorded against DynamoDB. This store passes ${passed} of them`),
  );
});
