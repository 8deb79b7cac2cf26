import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type TableDeclaration, tables } from '../../../../foundations/storage/tables.ts';
import { root } from '../../../support/run/project.ts';

type Tables = Readonly<Record<string, TableDeclaration>>;

/**
 * Why CloudFormation could not make one release's tables of another's in one update, or would put a
 * new, empty table in the place of one
 * (https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/aws-resource-dynamodb-table.html).
 */
const obstacles = (released: Tables, declared: Tables): string[] =>
  Object.entries(released).flatMap(([name, before]) => {
    // CloudFormation knows a table by its construct; what the code calls it may change.
    const now = Object.values(declared).find(({ construct }) => construct === before.construct);
    if (!now) return [`${name} is gone`];
    const differs = (read: (table: TableDeclaration) => unknown): boolean =>
      JSON.stringify(read(before)) !== JSON.stringify(read(now));
    const names = new Set([...Object.keys(before.indexes), ...Object.keys(now.indexes)]);
    const other = [...names].filter((index) => differs(({ indexes }) => indexes[index]));
    const changed = other.filter((index) => index in before.indexes && index in now.indexes);
    return [
      ...(differs(({ partition, sort }) => [partition, sort]) ? [`${name} would be another table`] : []),
      ...(differs(({ stream }) => stream) ? [`${name} has another stream`] : []),
      ...(before.expiry !== undefined && differs(({ expiry }) => expiry)
        ? [`${name} has another attribute of expiry`]
        : []),
      ...changed.map((index) => `${name}.${index} is changed`),
      ...(other.length > 1 ? [`${name} has ${other.length} indexes more, less or changed`] : []),
    ];
  });

const file = join(root, 'foundations/storage/released.json');
const released: Tables = JSON.parse(readFileSync(file, 'utf8')).tables;

it('a stack of the last release can be updated to this one', () => {
  expect(Object.keys(released).length).toBeGreaterThan(5);
  expect(obstacles(released, tables)).toEqual([]);
});

describe('an update is refused', () => {
  const { calls } = tables;
  const { by_time, by_error, ...rest } = calls.indexes;
  const { keys, ...others } = tables;
  const another = {
    partition: { name: 'ak', type: 'B' },
    sort: { name: 'as', type: 'B' },
    projects: ['h'],
  } as const;
  const withIndexes = (indexes: TableDeclaration['indexes']): Tables => ({
    ...tables,
    calls: { ...calls, indexes },
  });

  it.each<[string, Tables, string[]]>([
    ['not for nothing', tables, []],
    ['not for one index more', withIndexes({ ...calls.indexes, another }), []],
    ['not for one index less', withIndexes({ by_time, ...rest }), []],
    ['not for another name in the code', { ...others, secrets: keys }, []],
    ['not for a table more', { ...tables, more: tables.costs }, []],
    [
      'for one index more and one less',
      withIndexes({ by_time, ...rest, another }),
      ['calls has 2 indexes more, less or changed'],
    ],
    [
      'for an index that projects something else',
      withIndexes({ ...calls.indexes, by_error: { ...by_error, projects: ['h'] } }),
      ['calls.by_error is changed'],
    ],
    [
      'for another key',
      { ...tables, calls: { ...calls, sort: { name: 'p', type: 'B' } } },
      ['calls would be another table'],
    ],
    ['for another construct', { ...tables, keys: { ...keys, construct: 'Secrets' } }, ['keys is gone']],
    [
      'for another stream and another attribute of expiry',
      { ...tables, calls: { ...calls, stream: 'KEYS_ONLY', expiry: 'ttl' } },
      ['calls has another stream', 'calls has another attribute of expiry'],
    ],
    [
      'for a table less',
      { calls },
      Object.keys(tables)
        .slice(1)
        .map((name) => `${name} is gone`),
    ],
  ])('%s', (_, next, expected) => {
    expect(obstacles(tables, next)).toEqual(expected);
  });
});
