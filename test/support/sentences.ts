/**
 * Text as it is read: a link is its words, a code span one word, emphasis nothing. What follows a
 * full stop has a capital, so that a sentence may begin with a name in lower case.
 */
const asRead = (text: string): string =>
  text
    .replace(/(`+)[^`]*\1/g, 'code')
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/\*+/g, '')
    .replace(/(?<=[.?!][)"']*\s)\p{Ll}/gu, (letter) => letter.toUpperCase());

const segmenter = new Intl.Segmenter('en', { granularity: 'sentence' });

/**
 * The sentences of a paragraph of Markdown. What follows a colon or a semicolon belongs to the same
 * one. An abbreviation may end one too early, which only makes it shorter.
 */
export const sentencesOf = (text: string): string[] =>
  [...segmenter.segment(asRead(text))].flatMap(({ segment }) => segment.trim().split(/(?<=[.?!]) (?=\d)/));

/** How many words a sentence has; a number is one, a dash by itself none. */
export const countWords = (sentence: string): number =>
  sentence.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
