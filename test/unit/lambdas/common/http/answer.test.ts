import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  formatted,
  jsonList,
  jsonText,
  type Piece,
  recordTypes,
  utf8,
  withLineEnd,
} from '../../../../../lambdas/common/http/answer.ts';
import { anyCharacter } from '../../../../support/values/arbitraries/character.ts';

async function* toBatches(...batches: readonly string[][]): AsyncGenerator<string[]> {
  yield* batches;
}

const streamPieces = async (mediaType: string, ...batches: string[][]): Promise<string[]> => {
  const csv = () => toBatches(['a'], ...batches.map((batch) => batch.map((text) => text.slice(5, -1))));
  const pieces = await Array.fromAsync(formatted(mediaType, { json: () => toBatches(...batches), csv }));
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
    expect(await streamPieces(type, ['{"a":1}', '{"a":2}'], [], ['{"a":3}'])).toEqual(pieces);
  });

  it.each(['application/jsonl', 'application/x-ndjson'])(
    'as %s hold none of the line ends at which clients in Python split',
    async (type) => {
      const value = { text: 'a\u0085b\u2028c\u2029\u2028d' };
      const [line = ''] = await streamPieces(type, [JSON.stringify(value)]);
      expect(line).not.toMatch(/[\u0085\u2028\u2029]/);
      expect(JSON.parse(line)).toEqual(value);
    },
  );

  it.each([
    ['application/jsonl', ''],
    ['application/x-ndjson', ''],
    ['application/json', '[]\n'],
    ['text/csv', 'a\r\n'],
  ])('may be empty as %s', async (type, text) => {
    expect((await streamPieces(type)).join('')).toBe(text);
    expect((await streamPieces(type, [])).join('')).toBe(text);
  });
});

async function* inBatches(batches: readonly unknown[][]): AsyncGenerator<string[]> {
  for (const batch of batches) yield batch.map((value) => JSON.stringify(value));
}

describe('a list in an object', () => {
  it('is JSON of all items, for any batches', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(fc.jsonValue())), async (batches) => {
        const pieces = await Array.fromAsync(jsonList('objs', inBatches(batches)));
        const all = JSON.parse(JSON.stringify(batches.flat()));
        expect(JSON.parse(pieces.flat().join(''))).toEqual({ objs: all });
      }),
    );
  });

  it('starts with its first item, so that an earlier failure is an error', async () => {
    async function* failing(): AsyncGenerator<string[]> {
      yield [];
      throw new Error('storage');
    }
    await expect(jsonList('objs', failing()).next()).rejects.toThrow('storage');
  });
});

const ended = async (pieces: readonly Piece[]): Promise<string> => {
  const source = async function* () {
    yield* pieces;
  };
  return (await Array.fromAsync(withLineEnd(source()))).flat().join('');
};

it('JSON is one line, whatever its content', () => {
  expect(jsonText({ text: 'a\nb' })).toBe('{"text":"a\\nb"}\n');
});

describe('a chunk as UTF-8', () => {
  it('is its texts concatenated, whatever they contain', () =>
    fc.assert(
      fc.property(fc.array(fc.string({ unit: anyCharacter })), (texts) => {
        expect(utf8(texts)).toEqual(Buffer.from(texts.join('')));
        expect(utf8(texts.join(''))).toEqual(Buffer.from(texts.join('')));
      }),
    ));
});

describe('a text that ends its line', () => {
  it.each([
    ['has a line end added where there is none', ['{"a":', '1}'], '{"a":1}\n'],
    ['stays as it is where there is one', ['[]', '\n'], '[]\n'],
    ['is judged by its last piece that is not empty', ['[]\n', ''], '[]\n'],
    ['is judged by the last text of its last piece', [['[]', '\n']], '[]\n'],
    ['has a line end added behind a piece of several texts', [['{', '}']], '{}\n'],
    ['stays empty', [], ''],
  ])('%s', async (_, pieces, expected) => {
    expect(await ended(pieces)).toBe(expected);
  });

  it('is otherwise unchanged, for any chunks', () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(fc.oneof(fc.string(), fc.array(fc.string(), { minLength: 1 }))),
        async (pieces) => {
          const text = pieces.flat().join('');
          expect(await ended(pieces)).toBe(text === '' || text.endsWith('\n') ? text : `${text}\n`);
        },
      ),
    ));

  it('is not read further than requested, and ends its source', async () => {
    let closed = false;
    const source = async function* () {
      try {
        yield 'first';
        yield 'second';
      } finally {
        closed = true;
      }
    };
    for await (const piece of withLineEnd(source())) {
      expect(piece).toBe('first');
      break;
    }
    expect(closed).toBe(true);
  });
});
