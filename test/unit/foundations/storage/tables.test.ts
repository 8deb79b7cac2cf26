import { describe, expect, it } from 'vitest';
import type {
  AnyIndexRange,
  ExpiryOf,
  IndexKey,
  IndexName,
  IndexRange,
  KeyName,
  RowAttribute,
  TableKey,
  TableRange,
} from '../../../../foundations/storage/tables.ts';

const bytes = Uint8Array.of(1);

// The type checker is the test: it refuses an expectation of an error where there is none.
describe('the type of a key', () => {
  it("takes the attributes of the table's key alone", () => {
    const start: TableKey<'calls'> = { k: bytes, p: 'S' };
    // @ts-expect-error the sort key is missing
    const partial: TableKey<'calls'> = { k: bytes };
    // @ts-expect-error it has another name
    const other: TableKey<'feedback'> = { key: bytes };
    // @ts-expect-error the table has no sort key
    const sorted: TableKey<'feedback'> = { k: bytes, p: 'S' };
    // @ts-expect-error the attribute is text
    const binary: TableKey<'keys'> = { id: bytes };
    expect([start, partial, other, sorted, binary]).toHaveLength(5);
  });

  it("takes the attributes of the index's key alone", () => {
    const rows: IndexKey<'calls', 'by_thread'> = { hk: bytes, hs: bytes };
    // @ts-expect-error the attributes are those of another index
    const other: IndexKey<'calls', 'by_thread'> = { tk: bytes, ts: bytes };
    // @ts-expect-error the table has no such index
    const none: IndexName<'feedback'> = 'by_thread';
    // @ts-expect-error the table has no index
    const never: IndexName<'objects'> = 'by_time';
    expect([rows, other, none, never]).toHaveLength(4);
  });

  it('names every key attribute of the table and its indexes', () => {
    const names = ['k', 't', 'tk', 'rk', 'yk'] satisfies KeyName<'feedback'>[];
    // @ts-expect-error no key has the attribute
    const other: KeyName<'feedback'> = 'hk';
    expect(names).not.toContain(other);
  });

  it('leads to rows with both keys, and with what the index projects', () => {
    const names = ['k', 'p', 'ek', 'ts', 'h', 'c'] satisfies RowAttribute<'calls', 'by_error'>[];
    // @ts-expect-error the index does not project it
    const other: RowAttribute<'calls', 'by_trace'> = 'c';
    expect(names).toContain(other);
  });

  it('expires by the declared attribute, if at all', () => {
    const expiry: ExpiryOf<'calls'> = { x: 1 };
    // @ts-expect-error it has another name
    const other: ExpiryOf<'feedback'> = { ttl: 1 };
    // @ts-expect-error nothing expires in the table
    const never: ExpiryOf<'objects'> = { x: 1 };
    expect([expiry, other, never]).toHaveLength(3);
  });
});

describe('the type of a key range', () => {
  it('takes the attributes of the index, under its name', () => {
    const range: IndexRange<'calls', 'by_time'> = { index: 'by_time', partition: ['tk', bytes] };
    // @ts-expect-error the index has another name
    const renamed: IndexRange<'calls', 'by_time'> = { index: 'by_times', partition: ['tk', bytes] };
    // @ts-expect-error the partition key is that of another index
    const other: IndexRange<'calls', 'by_time'> = { index: 'by_time', partition: ['rk', bytes] };
    const sort = ['hs', bytes, bytes] as const;
    // @ts-expect-error the sort key is that of another index
    const sorted: IndexRange<'calls', 'by_time'> = { index: 'by_time', partition: ['tk', bytes], sort };
    expect([range, renamed, other, sorted]).toHaveLength(4);
  });

  it('of any index has the attributes that go with its name', () => {
    const range: AnyIndexRange<'calls'> = { index: 'by_trace', partition: ['rk', bytes] };
    // @ts-expect-error the partition key is that of another index
    const other: AnyIndexRange<'calls'> = { index: 'by_trace', partition: ['tk', bytes] };
    expect([range, other]).toHaveLength(2);
  });

  it('takes the attributes of the table, without an index', () => {
    const range: TableRange<'objects'> = { partition: ['k', bytes], sort: ['s', bytes, bytes] };
    // @ts-expect-error the table has no sort key
    const sorted: TableRange<'feedback'> = { partition: ['k', bytes], sort: ['s', bytes, bytes] };
    expect([range, sorted]).toHaveLength(2);
  });
});
