import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { partitionTags } from '../../../../core/records/partitions.ts';
import { root } from '../../../support/run/project.ts';

/** Whether a module makes keys of the table without the register. */
const makesKeysAlone = (text: string): boolean =>
  /\bk: [^B]|\['k', /.test(text) && !text.includes('/partitions.ts');

/** A partition key of the table that is made otherwise than by `toPartition`. */
const ownKey = /\bk: *(?:joinBytes|Buffer)\b|\['k', *(?:joinBytes|Buffer)\b|\b\w*Partition\b.*= *Buffer\b/;

describe('the partitions of the table bookkeeping', () => {
  it('have a tag each', () => {
    const tags = Object.values(partitionTags);
    expect(new Set(tags).size).toBe(tags.length);
    expect(tags.filter((tag) => !Number.isInteger(tag) || tag < 1 || tag > 255)).toEqual([]);
  });

  it('have keys that begin with a tag of the register', () => {
    const sources = globSync('{core,lambdas,bin,local}/**/*.ts', { cwd: root })
      .map((file) => ({ file, text: readFileSync(join(root, file), 'utf8') }))
      .filter(({ text }) => /Table(?:Key|Range)<'bookkeeping'>/.test(text));
    expect(sources.length).toBeGreaterThan(5);
    expect(
      sources.filter(({ text }) => ownKey.test(text) || makesKeysAlone(text)).map(({ file }) => file),
    ).toEqual([]);
  });
});
