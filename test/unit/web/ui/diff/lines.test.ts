import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { blocksOf, type DiffLine, diffOf } from '../../../../../web/ui/diff/lines.ts';

const written = (lines: readonly DiffLine[], without: DiffLine['kind']): string =>
  lines
    .filter(({ kind }) => kind !== without)
    .map(({ pieces }) => pieces.map(({ text }) => text).join(''))
    .join('\n');

describe('the differences of two texts', () => {
  it('are whole lines, with the words marked that differ', () => {
    expect(diffOf('a\nBe brief.\nc', 'a\nBe very brief.\nc')).toEqual([
      { kind: 'same', pieces: [{ text: 'a', changed: false }] },
      { kind: 'removed', pieces: expect.anything() },
      {
        kind: 'added',
        pieces: [
          { text: 'Be ', changed: false },
          { text: 'very ', changed: true },
          { text: 'brief.', changed: false },
        ],
      },
      { kind: 'same', pieces: [{ text: 'c', changed: false }] },
    ]);
  });

  it('give back both texts, whatever they are', () => {
    const line = fc.stringMatching(/^[ab .]{0,6}$/);
    const text = fc.array(line, { maxLength: 12 }).map((lines) => lines.join('\n'));
    fc.assert(
      fc.property(text, text, (one, other) => {
        const lines = diffOf(one, other) ?? [];
        expect(written(lines, 'added')).toBe(one);
        expect(written(lines, 'removed')).toBe(other);
      }),
    );
  });

  it('fold away what is equal and far from any', () => {
    const equal = Array.from({ length: 20 }, (_, at) => `line ${at}`).join('\n');
    const blocks = blocksOf(diffOf(`${equal}\nend`, `${equal}\nEND`) ?? []);
    expect(blocks.map(({ folded, lines }) => [folded, lines.length])).toEqual([
      [true, 17],
      [false, 5],
    ]);
  });
});
