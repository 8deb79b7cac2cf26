import { beforeAll, describe, expect, it } from 'vitest';
import { endLease, takeLease } from '../../../../../core/workers/evaluators/index.ts';
import { queryPage, requestBudget, type Table } from '../../../../../foundations/storage/index.ts';
import type { ProjectId } from '../../../../../foundations/wire/index.ts';
import { clientThrough } from '../../../../support/faults/intercepted.ts';
import { createStores } from '../../../../support/service/stores.ts';

let table: Table;
beforeAll(async () => {
  const stores = await createStores('bookkeeping');
  table = { client: stores.dynamodb, name: stores.rollupsTable };
});

const budget = () => requestBudget(60_000);
const inAnHour = () => Date.now() + 3_600_000;
const take = (name: string, { leases = 3, until = inAnHour() } = {}, from = table) =>
  takeLease(from, name as ProjectId, { leases, until }, budget());

describe('the leases of a project', () => {
  it('are as many as there are, whoever wants one at the same time', async () => {
    const taken = await Promise.all(Array.from({ length: 12 }, () => take('acme/crowd')));
    const leases = taken.filter((lease) => lease !== undefined);
    expect(leases).toHaveLength(3);
    expect(new Set(leases.map(({ key }) => Buffer.from(key.s).toString('hex'))).size).toBe(3);
    expect(await take('acme/crowd')).toBeUndefined();
    expect(await take('acme/another')).toBeDefined();
  });

  it('are free again once they end, each by whoever has it', async () => {
    const first = (await take('acme/ended', { leases: 1 })) ?? expect.fail();
    expect(await take('acme/ended', { leases: 1 })).toBeUndefined();
    await endLease(table, { ...first, worker: 'somebody else' }, budget());
    expect(await take('acme/ended', { leases: 1 })).toBeUndefined();
    await endLease(table, first, budget());
    expect(await take('acme/ended', { leases: 1 })).toBeDefined();
  });

  it('are free again after the time of somebody who died', async () => {
    expect(await take('acme/dead', { leases: 1, until: Date.now() - 1 })).toBeDefined();
    expect(await take('acme/dead', { leases: 1 })).toBeDefined();
    expect(await take('acme/dead', { leases: 1 })).toBeUndefined();
  });

  it('are those of whoever took them, also if the answer of the store was lost', async () => {
    let isLost = false;
    const client = clientThrough(async (operation, _, send) => {
      const answer = await send();
      if (operation !== 'PutItem' || isLost) return answer;
      isLost = true;
      throw Object.assign(new Error('lost'), { name: 'TimeoutError' });
    });
    expect(await take('acme/lost', { leases: 1 }, { ...table, client })).toBeDefined();
    expect(isLost).toBe(true);
  });

  it('end without an error if the store does not take it, and are deleted some time after their own', async () => {
    const until = inAnHour();
    const lease = (await take('acme/left', { until })) ?? expect.fail();
    const client = clientThrough(() => Promise.reject(new Error('the store is gone')));
    await endLease({ ...table, client }, lease, requestBudget(1000));
    const { items } = await queryPage(table, { partition: ['k', lease.key.k] }, budget());
    expect(items.map(({ x }) => x)).toEqual([Math.ceil(until / 1000)]);
  });

  it('are no more than before if there were more', async () => {
    await Promise.all(Array.from({ length: 3 }, () => take('acme/fewer')));
    expect(await take('acme/fewer', { leases: 2 })).toBeUndefined();
    expect(await take('acme/fewer', { leases: 4 })).toBeDefined();
  });
});
