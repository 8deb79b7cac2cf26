import { describe, expect, it } from 'vitest';
import { filesLike, readText } from '../../support/documents/documents.ts';

const folder = 'docs/decisions';
const pages = filesLike(`${folder}/[0-9]*.md`);

/** Number and title, as a page's first line has them. */
const parseHead = (page: string) => {
  const [, number, title] = /^# (\d{4}) (.+)\n\n/.exec(readText(page)) ?? [];
  return { number, title };
};

describe('every decision', () => {
  it.each(pages)('%s begins with its number and title', (page) => {
    expect(parseHead(page).number).toBe(page.slice(folder.length + 1, folder.length + 5));
  });

  it('is in the index by its title, in order', () => {
    const rows = readText(`${folder}/README.md`)
      .split('\n')
      .filter((line) => /^\| \[\d/.test(line));
    const expected = pages.map((page) => {
      const { number, title } = parseHead(page);
      return `| [${number}](${page.slice(folder.length + 1)}) | ${title} |`;
    });
    expect(rows).toEqual(expected);
  });

  it('has a number of its own', () => {
    const numbers = pages.map((page) => parseHead(page).number);
    expect(new Set(numbers).size).toBe(pages.length);
  });
});
