import { DescribeTableCommand } from '@aws-sdk/client-dynamodb';
import {
  asNumber,
  type Item,
  insertItems,
  putItems,
  requestBudget,
  scanTable,
  type Table,
} from '../../core/foundations/storage/index.ts';
import type { RestoreOptions } from './options.ts';

/** Numbers of items. */
export interface CopyCounts {
  /** Items read that have not expired. */
  readonly read: number;
  /** Items written. */
  readonly written: number;
}

/** The number of segments that are scanned concurrently. */
const segments = 8;
/** The time to write one page of a scan, in ms. Beyond it the copy fails. */
const pageMs = 300_000;

/** Names and types of a table's keys. Items can be copied between tables with equal keys only. */
const keysOf = async ({ client, name }: Table): Promise<string> => {
  const { Table: table } = await client.send(new DescribeTableCommand({ TableName: name }));
  const types = new Map(
    table?.AttributeDefinitions?.map((attribute) => [attribute.AttributeName, attribute.AttributeType]),
  );
  return (table?.KeySchema ?? [])
    .map(({ AttributeName, KeyType }) => `${KeyType} ${AttributeName} ${types.get(AttributeName)}`)
    .join(', ');
};

/** @throws Error that names the keys of both tables if they differ */
const requireSameKeys = async (from: Table, to: Table): Promise<void> => {
  const [source, target] = await Promise.all([keysOf(from), keysOf(to)]);
  if (source === target) return;
  throw new Error(`the tables have different keys: ${from.name} has ${source}, ${to.name} has ${target}`);
};

const expired = ({ x }: Item, nowSeconds: number): boolean => {
  const seconds = asNumber(x);
  return seconds !== undefined && seconds < nowSeconds;
};

/**
 * Selects a project's items. In every table but that of the keys, the partition key is the
 * project's id, or starts with it and a zero byte.
 */
const ofProject = (project: string) => ({
  FilterExpression: '#k = :project OR begins_with(#k, :prefix)',
  ExpressionAttributeNames: { '#k': 'k' },
  ExpressionAttributeValues: {
    ':project': Buffer.from(project),
    ':prefix': Buffer.from(`${project}\0`),
  },
});

/**
 * Copies items from one table into another with the same keys. A failed copy can be repeated.
 *
 * @param onProgress called with the counts so far after each page
 * @throws ServiceError 503 when storage does not accept the items in time; the SDK's error if it
 * refuses
 */
export const copyItems = async (
  from: Table,
  to: Table,
  { replace, dryRun, project }: Pick<RestoreOptions, 'replace' | 'dryRun' | 'project'>,
  onProgress: (soFar: CopyCounts) => void,
): Promise<CopyCounts> => {
  await requireSameKeys(from, to);
  let counts: CopyCounts = { read: 0, written: 0 };
  const write = async (items: readonly Item[]): Promise<number> => {
    if (dryRun) return 0;
    if (replace) await putItems(to, items, requestBudget(pageMs));
    const present = replace ? [] : await insertItems(to, items, requestBudget(pageMs));
    return items.length - present.length;
  };
  const copySegment = async (Segment: number): Promise<void> => {
    const options = { TotalSegments: segments, Segment, ConsistentRead: true };
    for await (const page of scanTable(from, { ...options, ...(project && ofProject(project)) })) {
      const items = page.filter((item) => !expired(item, Date.now() / 1000));
      const written = await write(items);
      counts = { read: counts.read + items.length, written: counts.written + written };
      onProgress(counts);
    }
  };
  await Promise.all(Array.from({ length: segments }, (_, segment) => copySegment(segment)));
  return counts;
};
