import { describe, expect, it } from 'vitest';
import { formatted, recordTypes, utf8 } from '../../../../lambdas/http/answer.ts';

async function* batchesOf(...batches: readonly string[][]): AsyncGenerator<string[]> {
  yield* batches;
}

const written = async (mediaType: string, ...batches: string[][]): Promise<string[]> => {
  const csv = batchesOf(['a'], ...batches.map((batch) => batch.map((text) => text.slice(5, -1))));
  const pieces = await Array.fromAsync(formatted(mediaType, { json: batchesOf(...batches), csv }));
  return pieces.map((piece) => utf8(piece).toString());
};

describe('records', () => {
  it('are written as JSON Lines unless another format is requested', () => {
    expect(recordTypes).toEqual([
      'application/jsonl',
      'application/x-ndjson',
      'application/json',
      'text/csv',
    ]);
  });

  it.each<[type: string, pieces: string[]]>([
    ['application/jsonl', ['{"a":1}\n{"a":2}\n', '{"a":3}\n']],
    ['application/x-ndjson', ['{"a":1}\n{"a":2}\n', '{"a":3}\n']],
    ['application/json', ['[{"a":1},\n{"a":2}', ',\n{"a":3}', ']\n']],
    ['text/csv', ['a\r\n', '1\r\n2\r\n', '3\r\n']],
  ])('as %s come piece by piece', async (type, pieces) => {
    expect(await written(type, ['{"a":1}', '{"a":2}'], [], ['{"a":3}'])).toEqual(pieces);
  });

  it.each([
    ['application/jsonl', ''],
    ['application/x-ndjson', ''],
    ['application/json', '[]\n'],
    ['text/csv', 'a\r\n'],
  ])('may be empty as %s', async (type, text) => {
    expect((await written(type)).join('')).toBe(text);
    expect((await written(type, [])).join('')).toBe(text);
  });
});
