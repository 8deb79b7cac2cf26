/** Loops over a store's items without the service. Its speed is compared with theirs. */
import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import {
  documents,
  everyShard,
  getItems,
  type Item,
  queryPage,
  type Store,
  scanTable,
} from '../../core/foundations/storage/index.ts';
import { type IndexName, tables } from '../../core/foundations/storage/tables.ts';
import type { ProjectId } from '../../core/foundations/wire/index.ts';
import { type Level, timeRange } from '../../core/records/calls/index.ts';
import { benchBudget } from './reporting.ts';

/** The keys of all segments of a store, for {@link bareLoop}. */
export const segmentKeys = async ({ table }: Store): Promise<Item[]> => {
  const keys: Item[] = [];
  const pages = scanTable(table, {
    FilterExpression: 'p = :p',
    ExpressionAttributeValues: { ':p': 'P' },
    ProjectionExpression: 'k, p',
  });
  for await (const items of pages) keys.push(...items);
  return keys;
};

const levels = ['roots', 'nested'] as const satisfies readonly Level[];

const range = (project: string, level: Level, shard: number) =>
  timeRange(project as ProjectId, level, shard, {});

/** Reads the same items as an export of everything, headers then payloads, and drops them. */
export const bareLoop = async (store: Store, project: string, keys: readonly Item[]): Promise<void> => {
  const budget = benchBudget();
  for (const level of levels)
    for (const shard of everyShard(store)) {
      let start: Item | undefined;
      do {
        const page = await queryPage(store.table, range(project, level, shard), budget, { start });
        start = page.next;
      } while (start);
    }
  for (let i = 0; i < keys.length; i += 100)
    await getItems(store.table, keys.slice(i, i + 100), budget, { consistent: false });
};

const byTime = 'by_time' satisfies IndexName<'calls'>;

/** Queries 128 rows of nested calls in the index by time. */
export const bareIndexQuery = ({ table }: Store, project: string): Promise<unknown> =>
  documents(table).send(
    new QueryCommand({
      TableName: table.name,
      IndexName: byTime,
      KeyConditionExpression: '#k = :k',
      ExpressionAttributeNames: { '#k': tables.calls.indexes[byTime].partition.name },
      ExpressionAttributeValues: { ':k': range(project, 'nested', 0).partition[1] },
      Limit: 128,
    }),
  );
