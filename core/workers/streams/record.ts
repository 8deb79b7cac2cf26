import { asBytes, type Item, itemFromWire, type WireItem } from '../../foundations/storage/index.ts';
import { type Micros, type ProjectId, parseProjectId } from '../../foundations/wire/index.ts';

/*
 * A table's stream has a record for each change of an item. Lambda gives records as events:
 * https://docs.aws.amazon.com/lambda/latest/dg/with-ddb.html
 */

/** A record of a table's stream, as far as it is read here. Bytes are base64. */
export interface StreamRecord {
  readonly eventID?: string | undefined;
  /** `arn:<…>:table/<table>/stream/<label>` */
  readonly eventSourceARN?: string | undefined;
  /** Who changed the item, if it was DynamoDB itself: its expiry. */
  readonly userIdentity?: unknown;
  readonly dynamodb?:
    | {
        readonly Keys?: unknown;
        readonly NewImage?: unknown;
        readonly OldImage?: unknown;
        readonly SequenceNumber?: string | undefined;
        /** Seconds since 1970. */
        readonly ApproximateCreationDateTime?: number | undefined;
      }
    | undefined;
}

export interface ItemChange {
  /** The name of the table. */
  readonly table: string;
  readonly projectId: ProjectId;
  /** The record's number. Of two records of an item, the later one has the greater number. */
  readonly sequence: string;
  /** About when it changed, to the second. */
  readonly at: Micros;
  readonly key: Item;
  /** The item before; undefined if there was none. */
  readonly before: Item | undefined;
  /** The item since; undefined if it is gone. */
  readonly after: Item | undefined;
}

/** The record's number; empty for a record without one, which DynamoDB does not write. */
export const sequenceOf = ({ dynamodb }: StreamRecord): string => dynamodb?.SequenceNumber ?? '';

const imageOf = (image: unknown): Item | undefined =>
  image === undefined || image === null ? undefined : itemFromWire(image as WireItem);

/** The project at the beginning of a key, before the first zero byte. */
const projectOf = (key: Item): ProjectId => {
  const bytes = asBytes(key.k);
  const end = bytes?.indexOf(0) ?? -1;
  const projectId =
    bytes && end > 0 ? parseProjectId(Buffer.from(bytes.subarray(0, end)).toString()) : undefined;
  if (projectId === undefined) throw new Error('a record of a stream whose key has no project');
  return projectId;
};

/**
 * Reads a record.
 *
 * @throws Error if it is none of the tables of calls or feedback
 */
export const toChange = (record: StreamRecord): ItemChange => {
  const { Keys, NewImage, OldImage, ApproximateCreationDateTime: seconds = 0 } = record.dynamodb ?? {};
  const key = imageOf(Keys) ?? {};
  return {
    table: record.eventSourceARN?.split('/')[1] ?? '',
    projectId: projectOf(key),
    sequence: sequenceOf(record),
    at: Math.round(seconds * 1e6),
    key,
    before: imageOf(OldImage),
    after: imageOf(NewImage),
  };
};
