import { describe, expect, it } from 'vitest';
import { blocksOf, documents, filesLike, proseOf, textOf } from '../../support/documents.ts';
import { countWords, sentencesOf } from '../../support/sentences.ts';

const columns = 100;
/** The style asks for 25; a list of names may take a few more. */
const maxWords = 30;

/** A line that no break can shorten: one link, code span, path or address. */
const isUnbreakable = (text: string): boolean =>
  /^\s*(?:[-*+] |\d+\. )?(?:\S+|\S*\[[^\]]*\]\(\S+\)\S*|\S*`[^`]*`\S*)$/.test(text);

describe.each(documents)('%s', (file) => {
  const text = textOf(file);

  it(`has no line of prose over ${columns} columns`, () => {
    const long = proseOf(text).filter((line) => line.text.length > columns && !isUnbreakable(line.text));
    expect(long.map((line) => `${file}:${line.number} ${line.text}`)).toEqual([]);
  });

  it(`has no sentence over ${maxWords} words`, () => {
    const long = blocksOf(text).flatMap((block) =>
      sentencesOf(block.text)
        .filter((sentence) => countWords(sentence) > maxWords)
        .map((sentence) => `${file}:${block.line} ${countWords(sentence)} words: ${sentence}`),
    );
    expect(long).toEqual([]);
  });
});

describe('comments in code', () => {
  it(`have no line over ${columns} columns`, () => {
    const isLong = (line: string) =>
      line.length > columns && /^\s*(?:\/\/|\/?\*)/.test(line) && !/https?:\S+/.test(line);
    const long = filesLike('**/*.ts')
      .filter((file) => !file.startsWith('core/otel/proto/'))
      .flatMap((file) =>
        textOf(file)
          .split('\n')
          .flatMap((line, index) => (isLong(line) ? [`${file}:${index + 1} ${line}`] : [])),
      );
    expect(long).toEqual([]);
  });
});
