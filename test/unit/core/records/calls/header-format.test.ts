import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type HeaderFormat, headerFormat } from '../../../../../core/records/calls/header-format.ts';
import { fromItem } from '../../../../../core/records/calls/items.ts';
import type { Item } from '../../../../../foundations/storage/index.ts';
import type { ProjectId } from '../../../../../foundations/wire/index.ts';
import { root } from '../../../../support/run/project.ts';

/**
 * Why functions of two releases could not run side by side, or the former release not be deployed again. Each has
 * to read what the other writes.
 */
const obstacles = (released: HeaderFormat, now: HeaderFormat): string[] => [
  ...(released.reads.includes(now.writes)
    ? []
    : [`version ${now.writes} is written, which the last release does not read`]),
  ...(now.reads.includes(released.writes)
    ? []
    : [`version ${released.writes} is not read, which the last release writes`]),
  ...Object.entries(released.lists).flatMap(([name, before]) => {
    const list = now.lists[name];
    if (!list) return [`${name} is gone`];
    return [
      ...(before.read.some((word, i) => list.read[i] !== word) ? [`${name} is changed before its end`] : []),
      ...(list.written > before.read.length
        ? [
            `${name} has ${list.written} that are written, of which the last release reads ${before.read.length}`,
          ]
        : []),
    ];
  }),
];

const released: HeaderFormat = JSON.parse(
  readFileSync(join(root, 'foundations/storage/released.json'), 'utf8'),
).headers;

it('functions of the last release and of this one read each other’s headers', () => {
  expect(obstacles(released, headerFormat())).toEqual([]);
});

describe('two releases are told apart', () => {
  const next = (changes: Partial<HeaderFormat>): HeaderFormat => ({ ...released, ...changes });
  const words = { read: ['a', 'b'], written: 2 };
  const before = next({ lists: { words } });
  it.each<[string, HeaderFormat, string[]]>([
    ['not if nothing changes', before, []],
    ['not if a version is only read yet', { ...before, reads: [3, 4] }, []],
    [
      'not if a word is only read yet',
      { ...before, lists: { words: { read: ['a', 'b', 'c'], written: 2 } } },
      [],
    ],
    [
      'if a version is written at once',
      { ...before, writes: 4, reads: [3, 4] },
      ['version 4 is written, which the last release does not read'],
    ],
    [
      'if a version is no longer read',
      { ...before, writes: 4, reads: [4] },
      [
        'version 4 is written, which the last release does not read',
        'version 3 is not read, which the last release writes',
      ],
    ],
    [
      'if a word is written at once',
      { ...before, lists: { words: { read: ['a', 'b', 'c'], written: 3 } } },
      ['words has 3 that are written, of which the last release reads 2'],
    ],
    [
      'if a word is put before others',
      { ...before, lists: { words: { read: ['c', 'a', 'b'], written: 2 } } },
      ['words is changed before its end'],
    ],
    ['if a list is gone', { ...before, lists: {} }, ['words is gone']],
  ])('%s', (_, now, expected) => {
    expect(obstacles(before, now)).toEqual(expected);
  });

  it('a version can be written by the release after the one that reads it', () => {
    expect(obstacles({ ...before, reads: [3, 4] }, { ...before, writes: 4, reads: [3, 4] })).toEqual([]);
  });
});

describe('the golden files', () => {
  const folder = join(root, 'test/support/stored/golden');
  /** The items of calls of each set, as the SDK gives them. */
  const items = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('items.jsonl'))
    .flatMap((name) => readFileSync(join(folder, name), 'utf8').trim().split('\n'))
    .map((line) => JSON.parse(line) as { in: string; item: Record<string, { B?: string; S?: string }> })
    .filter(({ in: table, item }) => table === 'calls' && item?.h)
    .map(({ item }): Item & { readonly k: Buffer; readonly h: Buffer } => {
      const values = Object.entries(item).map(([name, { B, S }]) => [
        name,
        B === undefined ? S : Buffer.from(B, 'base64'),
      ]);
      return Object.fromEntries(values);
    });

  it('have headers of each version that is read, and of no other', () => {
    expect(new Set(items.map(({ h }) => h[0]))).toEqual(new Set(headerFormat().reads));
  });

  it('are read, whatever the version', () => {
    for (const item of items) {
      const project = item.k.subarray(0, item.k.indexOf(0)).toString() as ProjectId;
      const { start, end, id } = fromItem(project, item);
      expect(id).not.toBe('');
      expect(start ?? end).not.toBeNull();
    }
  });
});
