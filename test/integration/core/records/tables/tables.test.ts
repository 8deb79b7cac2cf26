import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import type { TableChange } from '../../../../../api/tables.ts';
import {
  createTable,
  createTableFromDigests,
  queryTable,
  tableDigest,
  updateTable,
} from '../../../../../core/records/tables/index.ts';
import { ownDigests } from '../../../../../foundations/door.ts';
import { putItems, requestBudget, type Store, scanTable } from '../../../../../foundations/storage/index.ts';
import type { JsonObject } from '../../../../../foundations/wire/index.ts';
import { runs, seed } from '../../../../support/run/sampling.ts';
import { project } from '../../../../support/values/calls.ts';
import { createObjectStore } from '../../../../support/values/objects.ts';
import { random } from '../../../../support/values/random.ts';

let store: Store;
beforeAll(async () => {
  store = await createObjectStore();
});

const budget = () => requestBudget(60_000);
const create = (rows: readonly JsonObject[], where = store) =>
  createTable(where, project, rows, null, budget());

const read = async (digest: string, more: object = {}): Promise<JsonObject[]> => {
  const query = { projectId: project, digest, rowDigests: null, limit: null, offset: 0, sort: [], ...more };
  const batches = await Array.fromAsync(queryTable(store, query, budget()));
  return batches.flat().map(({ text }) => JSON.parse(text) as JsonObject);
};

/** Rows of some 200 bytes, like those of a dataset. */
const makeRows = (count: number, from = 0): JsonObject[] => {
  const numbers = random(seed + from);
  const word = () => numbers.below(1e9).toString(36);
  return Array.from({ length: count }, (_, i) => ({
    id: from + i,
    question: Array.from({ length: 18 }, word).join(' '),
    answer: word(),
  }));
};

describe('a table of 10,000 rows of 200 bytes', () => {
  it('costs hundreds of write units, and its next version no more than what is new', async () => {
    const rows = makeRows(10_000);
    const first = budget();
    const { digest, rowDigests } = await createTable(store, project, rows, null, first);
    expect(first.meter.writeUnits).toBeLessThan(400);
    // The same with a row more: one item each for pack, index and table, and the runs.
    const second = budget();
    const [added = {}] = makeRows(1, 20_000);
    const next = await createTable(store, project, [...rows, added], null, second);
    expect(second.meter.writeUnits).toBeLessThan(6);
    const third = budget();
    const changed = await updateTable(store, project, digest, [{ kind: 'append', row: added }], third);
    expect(changed.digest).toBe(next.digest);
    expect(third.meter.writeUnits).toBeLessThan(6);
    expect(await read(next.digest, { offset: 9_999 })).toEqual([rows[9_999], added]);
    expect(await createTableFromDigests(store, project, rowDigests, digest, budget())).toBe(digest);
  });
});

describe('tables', () => {
  const row = fc.record({ n: fc.nat({ max: 12 }), text: fc.constantFrom('', 'a', '日本', '\n') });
  const change = fc.oneof(
    row.map((value): TableChange => ({ kind: 'append', row: value })),
    fc
      .tuple(fc.nat({ max: 5 }), row)
      .map(([index, value]): TableChange => ({ kind: 'insert', index, row: value })),
    fc.nat({ max: 5 }).map((index): TableChange => ({ kind: 'pop', index })),
  );

  const apply = (rows: readonly JsonObject[], changes: readonly TableChange[]): JsonObject[] => {
    const list = [...rows];
    for (const change of changes) {
      if (change.kind === 'append') list.push(change.row);
      else if (change.kind === 'pop') list.splice(change.index, 1);
      else list.splice(change.index, 0, change.row);
    }
    return list;
  };

  it('are lists, whatever is done to them and whichever rows they share', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(row, { minLength: 20, maxLength: 40 }),
        fc.array(change, { maxLength: 6 }),
        fc.nat({ max: 30 }),
        fc.nat({ max: 30 }),
        async (rows, changes, offset, limit) => {
          const made = await create(rows);
          expect(made.rowDigests).toEqual(rows.map((value) => ownDigests.ofValue(value)));
          const { digest } = await updateTable(store, project, made.digest, changes, budget());
          const expected = apply(rows, changes);
          expect(digest).toBe(tableDigest(expected.map((value) => ownDigests.ofValue(value))));
          expect(await read(digest, { offset, limit })).toEqual(expected.slice(offset, offset + limit));
          expect(await read(made.digest)).toEqual(rows);
          const wanted = made.rowDigests.slice(0, 2);
          expect(await read(made.digest, { rowDigests: wanted })).toEqual(
            rows.filter((value) => wanted.includes(ownDigests.ofValue(value))),
          );
        },
      ),
      { numRuns: runs(7, 48), seed },
    );
  });
});

describe('digests that storage has damaged', () => {
  it('make no table of other rows', async () => {
    const own = await createObjectStore();
    const { digest } = await create(makeRows(3), own);
    for await (const page of scanTable(own.table)) {
      const packs = page.filter((item) => 'c' in item);
      for (const item of packs) (item.d as Uint8Array).fill(1, 40, 50);
      await putItems(own.table, packs, budget());
    }
    const change: TableChange = { kind: 'pop', index: 0 };
    await expect(updateTable(own, project, digest, [change], budget())).rejects.toThrow('are damaged');
  });
});
