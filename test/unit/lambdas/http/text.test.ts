import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { jsonText, type Piece, utf8, withLineEnd } from '../../../../lambdas/http/answer.ts';
import { anyCharacter } from '../../../support/arbitraries/character.ts';

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
