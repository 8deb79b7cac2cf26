/**
 * Loops over a store's items with nothing of the service in them: what its speed is compared with.
 */
import { paginateScan, QueryCommand } from '@aws-sdk/client-dynamodb';
import { timeRange } from '../../core/calls/index.ts';
import { getItems, type Item, queryPage, type Store } from '../../core/storage/index.ts';
import type { ProjectId } from '../../core/wire/index.ts';
import { patience } from './reporting.ts';

/** The keys of all segments of a store, which {@link bareLoop} is given. */
export const segmentKeys = async ({ table }: Store): Promise<Item[]> => {
  const keys: Item[] = [];
  const pages = paginateScan(table, {
    TableName: table.name,
    FilterExpression: 'p = :p',
    ExpressionAttributeValues: { ':p': { S: 'P' } },
    ProjectionExpression: 'k, p',
  });
  for await (const { Items = [] } of pages) keys.push(...Items);
  return keys;
};

const range = (project: string, shard: number) => timeRange(project as ProjectId, shard, {});

/**
 * Pages through the same items as an export of everything, headers and then payloads, and throws
 * them away.
 */
export const bareLoop = async (store: Store, project: string, keys: readonly Item[]): Promise<void> => {
  const spent = patience();
  for (let shard = 0; shard < (store.shards.at(-1) ?? 1); shard++) {
    let start: Item | undefined;
    do {
      const page = await queryPage(store.table, range(project, shard), spent, { start });
      start = page.next;
    } while (start);
  }
  for (let i = 0; i < keys.length; i += 100)
    await getItems(store.table, keys.slice(i, i + 100), spent, { consistent: false });
};

/** One query of 128 rows of the index by time. */
export const bareIndexQuery = ({ table }: Store, project: string): Promise<unknown> =>
  table.client.send(
    new QueryCommand({
      TableName: table.name,
      IndexName: 'by_time',
      KeyConditionExpression: 'tk = :k',
      ExpressionAttributeValues: { ':k': { B: range(project, 0).partition[1] } },
      Limit: 128,
    }),
  );
