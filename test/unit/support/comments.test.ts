import { describe, expect, it } from 'vitest';
import { commentBlocksOf } from '../../support/comments.ts';

const blocksIn = (...lines: string[]): string[] =>
  commentBlocksOf(lines.join('\n')).map(({ line, text }) => `${line} ${text}`);

describe('the paragraphs of comments', () => {
  it('are those of a block, with the line at which each begins', () => {
    expect(blocksIn('/**', ' * One', ' * goes on.', ' *', ' * Two.', ' */', 'const a = 1;')).toEqual([
      '2 One goes on.',
      '5 Two.',
    ]);
  });

  it('join neighbouring lines, and no others', () => {
    expect(blocksIn('// One', '// goes on.', 'run();', '// Two.')).toEqual(['1 One goes on.', '4 Two.']);
  });

  it('are found within a line, and within JSX', () => {
    expect(blocksIn('  /** One. */', '  {/* Two. */}')).toEqual(['1 One.', '2 Two.']);
  });

  it('end at a tag', () => {
    expect(blocksIn('/**', ' * One. @default - two', ' * @throws Error if', ' * three', ' */')).toEqual([
      '2 One.',
      '2 @default - two',
      '3 Error if three',
    ]);
  });

  it('leave out code, comments behind it, and rows of columns', () => {
    expect(blocksIn("const a = '//';", 'run(); // One.', '/*', ' * k  a key', ' */')).toEqual([]);
  });
});
