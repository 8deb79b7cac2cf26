import type { Database, StoredTable } from './database.ts';
import { invalid, StoreError, unsupported } from './errors.ts';
import { describeKeys, toStreamArn } from './tables.ts';
import type { Fields } from './values.ts';

/*
 * The API of DynamoDB Streams. A stream has one shard, which stays open:
 * https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_Operations_Amazon_DynamoDB_Streams.html
 */

/** DynamoDB's limits of one answer: records, and their size in bytes. */
const maxRecords = 1000;
const maxBytes = 1024 * 1024;

const shardId = 'shardId-00000000000000000000-00000000';

/** A sequence number as text, which sorts as the number does. */
const sequenceText = (sequence: number): string => String(sequence).padStart(21, '0');

const findStream = (database: Database, arn: unknown): StoredTable => {
  for (const table of database.tables)
    if (arn !== undefined && toStreamArn(table.definition) === arn) return table;
  throw new StoreError('ResourceNotFoundException', `Requested resource not found: Stream: ${arn} not found`);
};

/** Describes a stream with its one shard. */
export const describeStream = (database: Database, { StreamArn }: Fields): string => {
  const { definition } = findStream(database, StreamArn);
  return JSON.stringify({
    StreamDescription: {
      StreamArn,
      StreamLabel: definition.stream?.label,
      StreamStatus: 'ENABLED',
      StreamViewType: definition.stream?.view,
      TableName: definition.name,
      KeySchema: describeKeys(definition),
      Shards: [{ ShardId: shardId, SequenceNumberRange: { StartingSequenceNumber: sequenceText(1) } }],
    },
  });
};

/** The sequence number behind which an iterator begins. */
const findStart = (database: Database, { ShardIteratorType: type, SequenceNumber }: Fields): number => {
  if (type === 'TRIM_HORIZON') return 0;
  if (type === 'LATEST') return database.lastChange;
  if (type !== 'AFTER_SEQUENCE_NUMBER') throw unsupported(`the ShardIteratorType ${type}`);
  if (typeof SequenceNumber === 'string' && /^\d{1,21}$/.test(SequenceNumber)) return Number(SequenceNumber);
  throw invalid('SequenceNumber has to be one of the shard');
};

/** Makes an iterator, which is good for as long as the stream is there. */
export const getShardIterator = (database: Database, request: Fields): string => {
  const { StreamArn: arn, ShardId: shard } = request;
  findStream(database, arn);
  if (shard !== shardId)
    throw new StoreError(
      'ResourceNotFoundException',
      `Requested resource not found: Shard does not exist: ${shard}`,
    );
  return JSON.stringify({ ShardIterator: `${arn}|${findStart(database, request)}` });
};

/** The changes behind an iterator, and the iterator behind them. */
export const getRecords = (
  database: Database,
  { ShardIterator: iterator, Limit: limit = maxRecords }: Fields,
): string => {
  const [, arn, after] = /^(.+)\|(\d+)$/.exec(String(iterator)) ?? [];
  if (arn === undefined) throw invalid('Invalid ShardIterator');
  if (typeof limit !== 'number' || !(limit >= 1 && limit <= maxRecords))
    throw invalid(`Limit has to be a number from 1 to ${maxRecords}`);
  const table = findStream(database, arn);
  const records: string[] = [];
  let last = Number(after);
  let bytes = 0;
  for (const { sequence, text } of database.changes(table, last, limit)) {
    if (bytes >= maxBytes) break;
    bytes += text.length;
    last = sequence;
    records.push(
      `{"eventID":"${sequence.toString(16).padStart(32, '0')}","eventVersion":"1.1","eventSource":"aws:dynamodb",` +
        `"awsRegion":"local",${text},"SequenceNumber":"${sequenceText(sequence)}"}}`,
    );
  }
  return `{"Records":[${records.join(',')}],"NextShardIterator":${JSON.stringify(`${arn}|${last}`)}}`;
};
