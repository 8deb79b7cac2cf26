import { type AttributeValue, ScanCommand } from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import type { Store } from '../../core/foundations/storage/index.ts';
import type { StreamRecord } from '../../core/workers/streams/index.ts';
import { lambdaRecord } from '../../local/streams/lambda-record.ts';

type Image = Record<string, AttributeValue>;

/** All items of a table. */
const itemsOf = async ({ table: { client, name } }: Store): Promise<Image[]> => {
  const items: Image[] = [];
  let from: Image | undefined;
  do {
    const page = await client.send(new ScanCommand({ TableName: name, ExclusiveStartKey: from }));
    items.push(...(page.Items ?? []));
    from = page.LastEvaluatedKey;
  } while (from);
  return items;
};

/** Seconds since 1970 by which everything here has settled. */
const longAgo = new Date('2026-10-01T00:00:00Z');

/**
 * The records of a table's stream that lets starts and ends pass, as Lambda brings them. They are
 * an insertion of each item, all starts before all ends.
 */
export const recordsOf = async (store: Store): Promise<readonly StreamRecord[]> => {
  const items = (await itemsOf(store)).filter(({ p }) => p?.S === 'S' || p?.S === 'E');
  const ends = (item: Image) => (item.p?.S === 'E' ? 1 : 0);
  return items
    .toSorted((one, other) => ends(one) - ends(other))
    .map(
      (item, at) =>
        lambdaRecord(
          {
            eventID: at.toString(16).padStart(32, '0'),
            eventName: 'INSERT',
            dynamodb: {
              Keys: { k: item.k ?? marshall(null), p: item.p ?? marshall(null) },
              NewImage: item,
              SequenceNumber: String(10 ** 20 + at),
              ApproximateCreationDateTime: longAgo,
            },
          },
          `arn:aws:dynamodb:us-east-1:000000000000:table/${store.table.name}/stream/bench`,
        ) as StreamRecord,
    );
};
