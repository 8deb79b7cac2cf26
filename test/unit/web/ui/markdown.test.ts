import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { describe, expect, it } from 'vitest';
import { parseMarkdown, toElements } from '../../../../web/ui/markdown.ts';

const Code = ({ text, language }: { text: string; language: string | undefined }) =>
  createElement('pre', { lang: language }, text);

const toHtml = (text: string): string => renderToStaticMarkup(toElements(parseMarkdown(text) ?? [], Code));

describe('Markdown', () => {
  it('becomes paragraphs, lists, code and tables', () => {
    expect(toHtml('Hi **you**\n\n- a\n- `b`')).toBe(
      '<p dir="auto">Hi <strong>you</strong></p>' +
        '<ul><li dir="auto"><span class="bare">a</span></li>' +
        '<li dir="auto"><span class="bare"><code>b</code></span></li></ul>',
    );
    expect(toHtml('3. a')).toContain('<ol start="3">');
    expect(toHtml('```js\nlet a;\n```')).toBe('<pre lang="js">let a;\n</pre>');
    expect(toHtml('| a |\n| --: |\n| 1 |')).toMatch(
      /role="region".*<td style="text-align:right" dir="auto">1/,
    );
  });

  it('keeps the lines of a text, and has no headings of the page', () => {
    expect(toHtml('one\ntwo')).toBe('<p dir="auto">one<br/>two</p>');
    expect(toHtml('# Title')).toBe('<p class="heading h1" dir="auto">Title</p>');
  });

  it('leaves markup as the text that it is', () => {
    expect(toHtml('<script>alert(1)</script>')).not.toContain('<script');
    expect(toHtml('<b onclick="x">a</b>')).not.toContain('<b');
  });

  it.each(['javascript:alert(1)', 'data:text/html,x', 'vbscript:x', '/relative', '#place', 'JaVaScript:x'])(
    'makes no link of %s',
    (url) => {
      expect(toHtml(`[a](${url}) <${url}>`)).not.toContain('<a');
    },
  );

  it('opens links elsewhere, without telling where from', () => {
    expect(toHtml('[a](https://example.com)')).toContain(
      '<a href="https://example.com" title="https://example.com" target="_blank" rel="noopener noreferrer">',
    );
  });

  it('names images and does not load them', () => {
    expect(toHtml('![chart](https://example.com/spy.png)')).toContain(
      'Image, not loaded: chart https://example.com/spy.png',
    );
    expect(toHtml('![chart](https://example.com/spy.png)')).not.toContain('<img');
  });

  it('reads what is nested without end, and gives up on what has too many parts', () => {
    expect(toHtml('>'.repeat(20_000))).not.toBe('');
    expect(parseMarkdown('*a* '.repeat(5000))).toBeUndefined();
  });
});
