import fc from 'fast-check';
import { expect, it } from 'vitest';
import { highlightLines } from '../../../../web/ui/highlight.ts';

it('colors code by its language, line by line, also where a comment goes on', () => {
  const lines = highlightLines('const a = "b";\n/* one\ntwo */', 'ts');
  expect(lines?.[0]).toContainEqual({ text: 'const', kind: 'hljs-keyword' });
  expect(lines?.slice(1)).toEqual([
    [{ text: '/* one', kind: 'hljs-comment' }],
    [{ text: 'two */', kind: 'hljs-comment' }],
  ]);
});

it('says nothing of a language that it does not know', () => {
  expect(highlightLines('a', 'klingon')).toBeUndefined();
});

it('changes no text, whatever it is', () => {
  fc.assert(
    fc.property(fc.string(), fc.constantFrom('ts', 'python', 'bash', 'xml', 'diff'), (text, language) => {
      const lines = highlightLines(text, language) ?? [];
      expect(lines.map((line) => line.map((piece) => piece.text).join('')).join('\n')).toBe(text);
    }),
  );
});
