import { describe, expect, it } from 'vitest';
import { filesLike, textOf } from '../../support/documents.ts';

const folder = 'docs/decisions';
const pages = filesLike(`${folder}/[0-9]*.md`);

const withoutLinks = (text: string): string => text.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1');

/** Number, title, status and date, as a page's first lines say them. */
const headOf = (text: string) => {
  const [, number, title, status = '', date] =
    /^# (\d{4}) (.+)\n\nStatus: (.+)\. Date: (\d{4}-\d{2}-\d{2})\.\n\n/.exec(text) ?? [];
  return { number, title, status: withoutLinks(status), date };
};

describe('every decision', () => {
  it.each(pages)('%s begins with number, title, status and date', (page) => {
    const { number, status, date } = headOf(textOf(page));
    expect(number).toBe(page.slice(folder.length + 1, folder.length + 5));
    expect(status).toMatch(/^(?:accepted|superseded (?:in part )?by \d{4}(?: and \d{4})*)$/);
    expect(new Date(date ?? '').toString()).not.toBe('Invalid Date');
  });

  it('is in the index, as its page has it, in order', () => {
    const rows = textOf(`${folder}/README.md`)
      .split('\n')
      .filter((line) => /^\| \[\d/.test(line));
    const expected = pages.map((page) => {
      const { number, title, status, date } = headOf(textOf(page));
      return `| [${number}](${page.slice(folder.length + 1)}) | ${title} | ${status} | ${date} |`;
    });
    expect(rows.map((row) => row.replace(/\[([^\]]*)\]\([^)]*\)(?= \| \d{4}-)/g, '$1'))).toEqual(expected);
  });

  it('has a number of its own', () => {
    const numbers = pages.map((page) => headOf(textOf(page)).number);
    expect(new Set(numbers).size).toBe(pages.length);
  });
});
