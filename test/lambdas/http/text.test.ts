import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { jsonText, withLineEnd } from '../../../lambdas/http/text.ts';

const ended = async (pieces: readonly string[]): Promise<string> => {
  const source = async function* () {
    yield* pieces;
  };
  return (await Array.fromAsync(withLineEnd(source()))).join('');
};

it('JSON is one line, whatever is in it', () => {
  expect(jsonText({ text: 'a\nb' })).toBe('{"text":"a\\nb"}\n');
});

describe('a text that is to end its line', () => {
  it.each([
    ['has a line end added where there is none', ['{"a":', '1}'], '{"a":1}\n'],
    ['stays as it is where there is one', ['[]', '\n'], '[]\n'],
    ['is judged by its last piece that is not empty', ['[]\n', ''], '[]\n'],
    ['stays empty', [], ''],
  ])('%s', async (_, pieces, expected) => {
    expect(await ended(pieces)).toBe(expected);
  });

  it('is otherwise as it came, in whatever pieces', () =>
    fc.assert(
      fc.asyncProperty(fc.array(fc.string()), async (pieces) => {
        const text = pieces.join('');
        expect([text, `${text}\n`]).toContain(await ended(pieces));
      }),
    ));

  it('is not read further than it is wanted, and ends what makes it', async () => {
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
