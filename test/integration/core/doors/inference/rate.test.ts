import { CreateTableCommand } from '@aws-sdk/client-dynamodb';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { countRequest, type RateLimit } from '../../../../../core/doors/inference/index.ts';
import { requestBudget } from '../../../../../foundations/storage/index.ts';
import { createStores } from '../../../../support/service/stores.ts';

const newLimit = async (perMinute: number): Promise<RateLimit> => {
  const { dynamodb, callsTable } = await createStores();
  const name = `${callsTable}-rates`;
  await dynamodb.send(
    new CreateTableCommand({
      TableName: name,
      BillingMode: 'PAY_PER_REQUEST',
      KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
      AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
    }),
  );
  return { table: { client: dynamodb, name }, perMinute };
};

afterEach(() => vi.useRealTimers());

describe('a key’s requests', () => {
  it('are counted, at once or one by one, and refused above the limit until the minute is over', async () => {
    const limit = await newLimit(5);
    vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2026-10-01T09:30:15Z') });
    const count = (key = 'ada') => countRequest(limit, key, requestBudget(10_000));
    const outcomes = await Promise.allSettled(Array.from({ length: 20 }, () => count()));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(5);
    await expect(count()).rejects.toMatchObject({ status: 429, retryAfterSeconds: 45 });
    await count('bob');
    vi.setSystemTime(Date.parse('2026-10-01T09:31:00Z'));
    await count();
  });

  it('take one write unit each', async () => {
    const limit = await newLimit(5);
    const spent = requestBudget(10_000);
    await countRequest(limit, 'ada', spent);
    expect(spent.meter.writeUnits).toBe(1);
  });
});
