import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { generatedCalls, readCalls } from '../../../../bench/harness/calls.ts';
import { temporaryFolder } from '../../../support/run/project.ts';

describe('a file of calls', () => {
  const file = join(temporaryFolder(), 'calls.jsonl');
  const write = (lines: readonly string[]) => writeFileSync(file, `${lines.join('\n')}\n`);
  const [call] = generatedCalls(1);
  const line = JSON.stringify(call);

  it('is read line by line', () => {
    write([line, line]);
    expect(readCalls(file)).toEqual([call, call]);
  });

  it('is named in the error if it does not exist', () => {
    expect(() => readCalls('nofile.jsonl')).toThrow('nofile.jsonl cannot be read: ENOENT');
  });

  it.each(['{"start": {}', '[]', 'null', '{"start": {}}', '{"start": 1, "end": null}', ''])(
    'must not have a line like %j',
    (other) => {
      write([line, other, line]);
      expect(() => readCalls(file)).toThrow('calls.jsonl, line 2 should be a call, {"start": …, "end": …}');
    },
  );
});
