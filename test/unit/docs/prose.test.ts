import { describe, expect, it } from 'vitest';
import { commentBlocksOf } from '../../support/comments.ts';
import { type Block, blocksOf, documents, proseOf, sources, textOf } from '../../support/documents.ts';
import { countWords, sentencesOf } from '../../support/sentences.ts';

const columns = 100;
const maxWords = 25;

/** A line that no break can shorten: one link, code span, path or address. */
const isUnbreakable = (text: string): boolean =>
  /^\s*(?:[-*+] |\d+\. )?(?:\S+|\S*\[[^\]]*\]\(\S+\)\S*|\S*`[^`]*`\S*)$/.test(text);

/** The sentences of a file that have too many words, with their place. */
const longSentences = (file: string, blocks: readonly Block[]): string[] =>
  blocks.flatMap(({ line, text }) =>
    sentencesOf(text)
      .filter((sentence) => countWords(sentence) > maxWords)
      .map((sentence) => `${file}:${line} ${countWords(sentence)} words: ${sentence}`),
  );

describe.each(documents)('%s', (file) => {
  const text = textOf(file);

  it(`has no line of prose over ${columns} columns`, () => {
    const long = proseOf(text).filter((line) => line.text.length > columns && !isUnbreakable(line.text));
    expect(long.map((line) => `${file}:${line.number} ${line.text}`)).toEqual([]);
  });

  it(`has no sentence over ${maxWords} words`, () => {
    expect(longSentences(file, blocksOf(text))).toEqual([]);
  });
});

describe('comments in code', () => {
  it(`have no line over ${columns} columns`, () => {
    const isLong = (line: string) =>
      line.length > columns && /^\s*\{?(?:\/\/|\/?\*)/.test(line) && !/https?:\S+/.test(line);
    const long = sources.flatMap((file) =>
      textOf(file)
        .split('\n')
        .flatMap((line, index) => (isLong(line) ? [`${file}:${index + 1} ${line}`] : [])),
    );
    expect(long).toEqual([]);
  });

  it(`have no sentence over ${maxWords} words`, () => {
    expect(sources.flatMap((file) => longSentences(file, commentBlocksOf(textOf(file))))).toEqual([]);
  });
});
