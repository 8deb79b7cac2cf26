import fc from 'fast-check';

const firstSurrogate = 0xd800;
const surrogates = 0x800;
const last = 0x10ffff;

/**
 * Any code point but halves of surrogate pairs, as the unit of `fc.string`. fast-check has the same
 * by the name `binary`, which lists all of them first: that takes a second of each process.
 */
export const anyCharacter = fc
  .integer({ min: 0, max: last - surrogates })
  .map((at) => String.fromCodePoint(at < firstSurrogate ? at : at + surrogates));
