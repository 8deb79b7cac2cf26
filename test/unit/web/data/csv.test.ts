import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { csvFields, csvLine } from '../../../../web/data/csv.ts';

describe('a line of CSV', () => {
  it.each([
    ['=HYPERLINK("http://x","y")', '"\'=HYPERLINK(""http://x"",""y"")"'],
    ['+49 170 1234', "'+49 170 1234"],
    ['-2+3', "'-2+3"],
    ['@SUM(A1)', "'@SUM(A1)"],
    ['\t=1', "'\t=1"],
    ['\r=1', '"\'\r=1"'],
    ['＝1+1', "'＝1+1"],
    ["'=1", "''=1"],
    ['-5', '-5'],
    ['+1.5e3', '+1.5e3'],
    [-5, '-5'],
    [{ a: '=1' }, '"{""a"":""=1""}"'],
    ["it's", "it's"],
    ['a=1', 'a=1'],
  ])('has no formula of %j', (value, field) => {
    expect(csvLine([value, 7])).toBe(`${field},7`);
  });

  it('is read back as what was written', () => {
    const text = fc.string({
      unit: fc.constantFrom('=', '+', '-', '@', "'", '"', ',', '\t', '\n', '1', 'e', '.', 'x'),
    });
    fc.assert(
      fc.property(fc.array(text, { minLength: 2 }), (texts) => {
        expect(csvFields(`${csvLine(texts)}\n`)).toEqual([texts]);
      }),
    );
  });
});
