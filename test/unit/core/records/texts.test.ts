import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { GroupMaker, groupTest, hashesOf, type TextTest } from '../../../../core/records/texts.ts';
import { hostileText } from '../../../support/values/hostile-texts.ts';

const groupOf = (...texts: unknown[]) => {
  const maker = new GroupMaker();
  maker.add(
    0,
    texts.map((text) => JSON.stringify(text)),
  );
  return maker.finish();
};
const asking = (text: string): TextTest => ({ kind: 'hashes', hashes: hashesOf(text) });
const mayHave = (text: string, ...texts: unknown[]): boolean =>
  groupOf(...texts).some(groupTest(asking(text)));

describe('a group of calls', () => {
  it('may have each part of its texts, as they are, in JSON, and in another case', () => {
    fc.assert(
      fc.property(hostileText, hostileText, fc.nat(), fc.nat(), (text, other, start, length) => {
        const value = { key: [text], other };
        for (const whole of [text, JSON.stringify(value)]) {
          const from = start % Math.max(1, whole.length);
          const part = whole.slice(from, from + 1 + (length % 20));
          for (const sought of [part, part.toLowerCase(), whole])
            expect(mayHave(sought, value), JSON.stringify([sought, value])).toBe(true);
          const folded = whole.toLowerCase();
          expect(mayHave(folded.slice(from, from + 9), value)).toBe(true);
        }
      }),
      { numRuns: 1000 },
    );
  });

  it('folds each letter by itself, whatever stands around it', () => {
    for (let point = 0x20; point < 0x20000; point++) {
      if (point >= 0xd800 && point < 0xe000) continue;
      const letter = String.fromCodePoint(point);
      const around = `aΣ${letter}Σ b`;
      if (!hashesOf(letter.repeat(3)).length) continue;
      const have = new Set(hashesOf(around));
      // The two letters around are those that lower case looks at.
      if (!hashesOf(`Σ${letter}Σ`).every((hash) => have.has(hash))) throw new Error(point.toString(16));
    }
  });

  it('has hardly anything that its texts do not have', () => {
    const text = Array.from({ length: 400 }, (_, i) => `word${i * 7919} and more`).join(' ');
    const absent = Array.from({ length: 200 }, (_, i) => `q${String.fromCharCode(0x4e00 + i)}z`);
    const wrong = absent.filter((sought) => mayHave(sought, text));
    expect(wrong.length).toBeLessThan(40);
    expect(mayHave('zebra crossing', text)).toBe(false);
  });

  it('says that it may have anything when its texts are too many for its bytes', () => {
    const text = Array.from({ length: 60_000 }, (_, i) =>
      String.fromCharCode(0x4e00 + ((i * 7919) % 20_000)),
    );
    expect(mayHave('zebra crossing', text.join(''))).toBe(true);
  });

  it('takes few bytes a call, and keeps calls of one time together', () => {
    const maker = new GroupMaker();
    for (let i = 0; i < 300; i++)
      maker.add(Math.floor(i / 50), [
        JSON.stringify({ question: `What about order ${i}?`, tools: 'x'.repeat(500) }),
      ]);
    const groups = maker.finish();
    expect(groups.length).toBeGreaterThan(3);
    expect(groups.map(({ calls }) => calls).reduce((a, b) => a + b)).toBe(300);
    for (const [i, { from }] of groups.entries())
      if (i > 0) expect(from).toBeGreaterThan(groups[i - 1]?.to ?? 0);
    const bytes = groups.reduce((sum, { packed }) => sum + (packed?.length ?? 0), 0);
    expect(bytes).toBeLessThan(300 * 72);
  });

  it('combines what a query asks for', () => {
    const groups = groupOf('refund for the red shoes');
    const test = (of: TextTest) => groups.some(groupTest(of));
    const red = asking('red shoes');
    const blue = asking('xylophones');
    expect(test({ kind: 'all', of: [red, blue] })).toBe(false);
    expect(test({ kind: 'any', of: [red, blue] })).toBe(true);
    expect(test({ kind: 'any', of: [blue] })).toBe(false);
  });

  it('asks nothing of a text without trigrams', () => {
    for (const text of ['', 'ab', 'a"b"c', '\n\n\n\n', '\ud83d\ud83d\ud83d'])
      expect(hashesOf(text)).toEqual([]);
    expect(hashesOf('w'.repeat(3))).toHaveLength(1);
    expect(hashesOf('日本語')).toHaveLength(1);
    expect(hashesOf(Array.from({ length: 500 }, (_, i) => `${i} `).join(''))).toHaveLength(64);
  });
});
