import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, inject, it } from 'vitest';
import { openBench, totalUnits } from '../../../../bench/harness/bench.ts';
import { putUnits, rowBytes, tableSchema } from '../../../../bench/harness/item-size.ts';
import { documents, itemBytes } from '../../../../foundations/storage/index.ts';
import { assembly } from '../../../support/stack/assembly.ts';

describe('the size of an item', () => {
  it('is that of its names and values, in bytes of UTF-8', () => {
    expect(itemBytes({ name: 'Zoë' })).toBe(4 + 4);
    expect(itemBytes({ b: Uint8Array.of(1, 2, 3) })).toBe(1 + 3);
  });

  it('counts two digits of a number as one byte, and one more for it and for a sign', () => {
    expect(itemBytes({ n: 27 })).toBe(1 + 2);
    expect(itemBytes({ n: -27 })).toBe(1 + 3);
    expect(itemBytes({ n: 12345.6 })).toBe(1 + 4);
    expect(itemBytes({ n: 1000000 })).toBe(1 + 2);
  });

  it('counts three bytes for a list or map and one for each item', () => {
    expect(itemBytes({ l: ['ab', null] })).toBe(1 + 3 + (1 + 2) + (1 + 1));
    expect(itemBytes({ m: { k: true } })).toBe(1 + 3 + (1 + 1 + 1));
  });
});

describe('the rows of an item', () => {
  const schema = tableSchema({
    properties: {
      KeySchema: [{ AttributeName: 'k', KeyType: 'HASH' }],
      AttributeDefinitions: [],
      GlobalSecondaryIndexes: [
        {
          IndexName: 'some',
          KeySchema: [{ AttributeName: 't', KeyType: 'HASH' }],
          Projection: { ProjectionType: 'INCLUDE', NonKeyAttributes: ['h'] },
        },
        {
          IndexName: 'all',
          KeySchema: [{ AttributeName: 't', KeyType: 'HASH' }],
          Projection: { ProjectionType: 'ALL' },
        },
      ],
    },
  });

  it('have what an index projects, with the keys of both', () => {
    const item = { k: 'key', t: 'time', h: 'header', b: 'x'.repeat(2000) };
    expect(rowBytes(item, schema)).toEqual({
      table: 4 + 5 + 7 + 2001,
      some: 4 + 5 + 7,
      all: 4 + 5 + 7 + 2001,
    });
    expect(putUnits(item, schema)).toEqual({ table: 2, some: 1, all: 2 });
  });

  it('are none in an index whose keys the item lacks', () => {
    expect(rowBytes({ k: 'key', h: 'header' }, schema)).toEqual({ table: 4 + 7 });
  });
});

describe('the units of a put', () => {
  it('are those that DynamoDB Local reports on either side of a KB, for the table and its indexes', async () => {
    await using bench = await openBench({ dynamodb: inject('stores').dynamodb, assembly: assembly() });
    const { table } = await bench.newStore('calls');
    const keys = { tk: Uint8Array.of(1), ts: Uint8Array.of(2) };
    const rest = 3 + 2 + 3 + 3 + 1 + 1;
    for (const [id, header] of [1023, 1024, 1025, 2048, 2049].entries()) {
      const k = Uint8Array.of(id);
      const item = {
        k,
        p: 'S',
        ...keys,
        h: new Uint8Array(header - rest),
        b: new Uint8Array(700),
      };
      const { writes } = await bench.capacity.during(() =>
        documents(table).send(
          new PutCommand({ TableName: table.name, Item: item, ReturnConsumedCapacity: 'TOTAL' }),
        ),
      );
      expect(writes).toEqual(putUnits(item, bench.getSchema(table)));
      expect(totalUnits(writes)).toBeGreaterThan(2);
    }
  });
});
