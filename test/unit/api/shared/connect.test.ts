import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type ConnectTo, connectGuides } from '../../../../api/shared/connect.ts';

const root = join(import.meta.dirname, '../../../..');
const documents = [
  'README.md',
  'docs/agents.md',
  'docs/opentelemetry.md',
  'docs/inference.md',
  'docs/weave.md',
  'docs/local.md',
]
  .map((name) => readFileSync(join(root, name), 'utf8'))
  .join('\n');

/** The services that the documents speak of. */
const urls = [
  'http://127.0.0.1:8787',
  'https://…',
  'https://….execute-api.eu-west-1.amazonaws.com/api',
] as const;

const listCode = (to: ConnectTo): string[] =>
  connectGuides(to).flatMap(({ steps }) => steps.flatMap(({ code = '' }) => code.split('\n')));

/** The lines of code that no document has, for any of its services. */
const unknownLines = (): string[] => {
  const [lines = [], ...others] = urls.map((url) => listCode({ url, project: 'acme/shop' }));
  const isKnown = (line = '') => documents.includes(line);
  return lines.filter((line, at) => ![line, ...others.map((other) => other[at])].some(isKnown));
};

describe('the guides of Connect', () => {
  it('have the lines of code that the documents have', () => {
    expect(unknownLines()).toEqual([]);
  });

  it('name the service and the project that they are asked for, and no other', () => {
    const codes = listCode({ url: 'https://x.example/api', project: 'one/two' }).join('\n');
    expect(codes).toContain('OTEL_EXPORTER_OTLP_ENDPOINT=https://x.example/api/otel\n');
    expect(codes).toContain('project_id=one/two');
    expect(codes).not.toMatch(/acme\/shop|127\.0\.0\.1/);
  });
});
