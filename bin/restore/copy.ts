import { DescribeTableCommand, paginateScan } from '@aws-sdk/client-dynamodb';
import { type Item, insertItems, putItems, requestBudget, type Table } from '../../core/storage/index.ts';
import type { Order } from './options.ts';

/** How many items there were. */
export interface Copied {
  /** Read from the one table, those left out because they have expired not counted. */
  readonly read: number;
  /** Written to the other. */
  readonly written: number;
}

/** The table is read in so many parts side by side. */
const segments = 8;
/** One page of a scan is written within this time, or the copy fails. */
const pageMs = 300_000;

/**
 * The name and the order of a table's keys, which two tables must share for one to take the other's
 * items.
 */
const keysOf = async ({ client, name }: Table): Promise<string> => {
  const { Table: table } = await client.send(new DescribeTableCommand({ TableName: name }));
  const types = new Map(table?.AttributeDefinitions?.map((made) => [made.AttributeName, made.AttributeType]));
  return (table?.KeySchema ?? [])
    .map(({ AttributeName, KeyType }) => `${KeyType} ${AttributeName} ${types.get(AttributeName)}`)
    .join(', ');
};

/**
 * Refuses tables of which one cannot have the other's items.
 *
 * @throws Error that names their keys
 */
const requireSameKeys = async (from: Table, to: Table): Promise<void> => {
  const [given, wanted] = await Promise.all([keysOf(from), keysOf(to)]);
  if (given === wanted) return;
  throw new Error(`the tables are not of one kind: ${from.name} has the key ${given}, ${to.name} ${wanted}`);
};

const expired = ({ x }: Item, nowSeconds: number): boolean => x?.N !== undefined && Number(x.N) < nowSeconds;

/**
 * The partition key of a project's items is its id, or begins with that and a zero byte, in all
 * tables but that of the keys.
 */
const ofProject = (project: string) => ({
  FilterExpression: '#k = :project OR begins_with(#k, :prefix)',
  ExpressionAttributeNames: { '#k': 'k' },
  ExpressionAttributeValues: {
    ':project': { B: Buffer.from(project) },
    ':prefix': { B: Buffer.from(`${project}\0`) },
  },
});

/**
 * Copies items from one table into another of the same keys.
 *
 * @param tell is told of the items so far, page by page
 * @throws ServiceError 503 when storage does not take them in time, the SDK's error where it
 * refuses: what was copied stays, and the same copy may be made again
 */
export const copyItems = async (
  from: Table,
  to: Table,
  { replace, dryRun, project }: Pick<Order, 'replace' | 'dryRun' | 'project'>,
  tell: (soFar: Copied) => void,
): Promise<Copied> => {
  await requireSameKeys(from, to);
  let copied: Copied = { read: 0, written: 0 };
  const write = async (items: readonly Item[]): Promise<number> => {
    if (dryRun) return 0;
    if (replace) await putItems(to, items, requestBudget(pageMs));
    const present = replace ? [] : await insertItems(to, items, requestBudget(pageMs));
    return items.length - present.length;
  };
  const copySegment = async (Segment: number): Promise<void> => {
    const input = { TableName: from.name, TotalSegments: segments, Segment, ConsistentRead: true };
    const pages = paginateScan({ client: from.client }, { ...input, ...(project && ofProject(project)) });
    for await (const { Items = [] } of pages) {
      const items = Items.filter((item) => !expired(item, Date.now() / 1000));
      const written = await write(items);
      copied = { read: copied.read + items.length, written: copied.written + written };
      tell(copied);
    }
  };
  await Promise.all(Array.from({ length: segments }, (_, segment) => copySegment(segment)));
  return copied;
};
