import { describe, expect, it } from 'vitest';
import type { CallRow } from '../../../../../web/api/calls.ts';
import type { CallsQuery } from '../../../../../web/api/contract.ts';
import { CallList, type ListOptions } from '../../../../../web/calls/list/call-list.ts';

const second = (at: number) => new Date(Date.parse('2026-10-01T12:00:00Z') - at * 1000).toISOString();

/** Calls, the newest first: every tenth is a root, with the others below it. */
const stored: CallRow[] = Array.from({ length: 250 }, (_, at) => ({
  id: `call-${at}`,
  trace_id: `trace-${Math.floor(at / 10)}`,
  parent_id: at % 10 === 0 ? null : `call-${at - (at % 10)}`,
  started_at: second(at),
  ended_at: second(at),
  op_name: 'op',
  project_id: 'acme/shop',
})) as never;

/** A list of these calls, of which some may be gone meanwhile, with what it asks for. */
const makeList = (sort: string) => {
  const asked: CallsQuery[] = [];
  let there = stored;
  async function* stream(_path: string, request: CallsQuery) {
    asked.push(request);
    const { $and: bounds = [] } = (request.query?.$expr ?? {}) as {
      $and?: { $lte?: [unknown, { $literal: string }] }[];
    };
    const last = bounds.at(-1)?.$lte?.[1].$literal;
    const rows = there.filter(({ started_at }) => last === undefined || started_at <= last);
    yield rows.slice(request.offset ?? 0, (request.offset ?? 0) + (request.limit ?? 0));
  }
  const list = new CallList({
    client: { stream } as unknown as ListOptions['client'],
    request: { project_id: 'acme/shop', sort_by: [{ field: sort, direction: 'desc' }] },
    roots: false,
  });
  const remove = (ids: readonly string[]) => {
    there = there.filter(({ id, parent_id }) => !ids.includes(id) && !ids.includes(parent_id ?? ''));
    list.remove(ids);
  };
  return { list, asked, remove, there: () => there };
};

describe.each(['started_at', 'summary.svc.latency_ms'])('a list by %s that calls are deleted of', (sort) => {
  it('loses their rows and those below, and misses none of the others as it goes on', async () => {
    const { list, remove, there } = makeList(sort);
    await list.more();
    list.active = 15;
    remove(['call-0', 'call-25', 'call-90']);
    const { rows } = list.store.getState();
    expect(rows.map(({ id }) => id)).not.toContain('call-95');
    expect(rows).toHaveLength(79);
    expect(rows[list.active]?.id).toBe('call-15');
    while (!list.store.getState().complete) await list.more();
    expect(list.store.getState().rows).toEqual(there());
  });

  it('stays as it was if it has none of them, and stands at the next row if it stood at one', async () => {
    const { list, remove } = makeList(sort);
    await list.more();
    const { rows } = list.store.getState();
    list.active = 3;
    remove(['elsewhere']);
    expect(list.store.getState().rows).toBe(rows);
    remove(['call-3']);
    expect(list.store.getState().rows[list.active]?.id).toBe('call-4');
  });
});
