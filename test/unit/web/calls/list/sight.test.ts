import { describe, expect, it } from 'vitest';
import type { CallRow } from '../../../../../web/api/calls.ts';
import { SightBatches } from '../../../../../web/calls/list/sight.ts';

const makeRows = (ids: readonly string[]) => ids.map((id) => ({ id, trace_id: `t-${id}` }) as CallRow);
const numbered = (count: number, from = 0) => Array.from({ length: count }, (_, i) => `call-${from + i}`);
const getIds = (batches: readonly (readonly { id: string }[])[]) =>
  batches.map((batch) => batch.map(({ id }) => id));

describe('the batches in which a list looks things up', () => {
  it('have the rows in sight, and each row once while the list is scrolled', () => {
    const batches = new SightBatches();
    const rows = makeRows(numbered(100));
    const opened = batches.inSight(rows, { first: 0, last: 29, settled: true });
    expect(getIds(opened)).toEqual([numbered(30)]);
    const scrolled = batches.inSight(rows, { first: 2, last: 31, settled: true });
    expect(getIds(scrolled)).toEqual([numbered(30), numbered(16, 30)]);
    expect(batches.inSight(rows, { first: 10, last: 45, settled: true })).toEqual(scrolled);
    expect(getIds(batches.inSight(rows, { first: 97, last: 99, settled: true }))).toEqual([numbered(3, 97)]);
  });

  it('stay what they are when rows come before them', () => {
    const batches = new SightBatches();
    const rows = makeRows(numbered(20));
    const [first] = batches.inSight(rows, { first: 0, last: 19, settled: true });
    const live = batches.inSight([...makeRows(['new']), ...rows], { first: 0, last: 20, settled: true });
    expect(live[1]).toBe(first);
    expect(getIds(live)[0]).toEqual(['new']);
  });

  it('wait while few rows are there and more are on their way', () => {
    const batches = new SightBatches();
    expect(batches.inSight(makeRows(numbered(3)), { first: 0, last: 2, settled: false })).toEqual([]);
    const some = batches.inSight(makeRows(numbered(16)), { first: 0, last: 15, settled: false });
    expect(getIds(some)).toEqual([numbered(16)]);
    expect(batches.inSight(makeRows(numbered(3)), { first: 0, last: -1, settled: true })).toEqual([]);
  });

  it('are forgotten with rows that left the list', () => {
    const batches = new SightBatches();
    const sight = { first: 0, last: 19, settled: true };
    const [before] = batches.inSight(makeRows(numbered(20)), sight);
    for (let at = 20; at < 100; at += 20) batches.inSight(makeRows(numbered(20, at)), sight);
    const [after] = batches.inSight(makeRows(numbered(20)), sight);
    expect(after).toEqual(before);
    expect(after).not.toBe(before);
  });
});
