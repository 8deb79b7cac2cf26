import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { repository } from '../support/documents/documents.ts';

// An archive of the sources is no clone.
it.skipIf(!existsSync(join(repository, '.git')))(
  'ignores no file of its own: the linter would skip it',
  () => {
    const argv = ['ls-files', '--cached', '--ignored', '--exclude-standard'];
    expect(execFileSync('git', argv, { cwd: repository, encoding: 'utf8' })).toBe('');
  },
);
