import fc from 'fast-check';

/*
 * Texts of all scripts and normal forms, with what JSON escapes and what lower case makes of letters by what
 * stands around them.
 */

/** Pieces that a search by parts of texts could take apart in a wrong way. */
const pieces = [
  'refund',
  'Order 1829',
  'ΟΔΥΣΣΕΥΣ',
  'Σ',
  'ς',
  'İstanbul',
  'ıI',
  'Straße',
  'ẞ',
  'ﬁ',
  'é',
  'e\u0301',
  'Å\u030a',
  '日本語',
  'ｶﾅ',
  '한국어',
  '\u1112\u1161\u11ab',
  'مرحبا',
  'שָׁלוֹם',
  'नमस्ते',
  'ไทย',
  '😀',
  '👩‍👩‍👧',
  '𐐀𐐨',
  '\ud83d',
  '\ude00',
  '"',
  '\\',
  '\\n',
  '\n',
  '\t',
  '\u0000',
  '\u2028',
  '\u007f',
  '/',
  '{"a":[1,2.5e30]}',
  ' ',
  '__proto__',
];

/** A text of such pieces, and of any others. */
export const hostileText: fc.Arbitrary<string> = fc
  .array(
    fc.oneof(
      { weight: 4, arbitrary: fc.constantFrom(...pieces) },
      { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 8 }) },
    ),
    { maxLength: 8 },
  )
  .map((parts) => parts.join(''));
