import {
  asBytes,
  getItems,
  type Item,
  itemFromWire,
  type RequestBudget,
  type Store,
  type WireItem,
} from '../../foundations/storage/index.ts';
import { type Micros, type ProjectId, parseProjectId } from '../../foundations/wire/index.ts';
import {
  type CallHeader,
  callIdOf,
  type EndHeader,
  endKey,
  fromItem,
  type Part,
  type StartHeader,
  type StoredPart,
  startKey,
} from '../../records/calls/index.ts';

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

/** An item of a call, from a record or from the table. */
export interface CallItem extends StoredPart {
  /** Whether it is in the index by time. An end is not if its start was unknown to its writer. */
  readonly isIndexed: boolean;
}

/** Names an item of a call. */
export interface CallItemName {
  readonly projectId: ProjectId;
  readonly id: string;
  readonly part: Part;
}

/** A change of a call's item. */
export interface CallChange extends CallItemName {
  readonly change: ItemChange;
  readonly before: CallItem | undefined;
  readonly after: CallItem | undefined;
}

/** An item's name as text, for look-ups. No project and no id has a line break. */
export const nameText = ({ projectId, id, part }: CallItemName): string => `${projectId}\n${id}\n${part}`;

const toCallItem = (store: Store, projectId: ProjectId, item: Item): CallItem => ({
  ...fromItem(store, projectId, item),
  isIndexed: item.tk !== undefined,
});

/**
 * Reads a change of the calls table.
 *
 * @returns undefined if the item is no call's but a segment of payloads
 * @throws Error if an item has no header, or one that a later release wrote
 */
export const toCallChange = (store: Store, change: ItemChange): CallChange | undefined => {
  const { projectId, key, before, after } = change;
  const [bytes, part] = [asBytes(key.k), key.p];
  if (!bytes || (part !== 'S' && part !== 'E')) return undefined;
  return {
    projectId,
    id: callIdOf(projectId, bytes),
    part,
    change,
    before: before && toCallItem(store, projectId, before),
    after: after && toCallItem(store, projectId, after),
  };
};

/** Reads items of calls from the table. Those that are not there are left out. */
export const readCallItems = async (
  store: Store,
  wanted: readonly CallItemName[],
  budget: RequestBudget,
  options: { readonly consistent: boolean },
): Promise<Map<string, CallItem>> => {
  const found = new Map<string, CallItem>();
  const byProject = Map.groupBy(
    new Map(wanted.map((name) => [nameText(name), name])).values(),
    ({ projectId }) => projectId,
  );
  for (const [projectId, names] of byProject) {
    const keys = names.map(({ id, part }) =>
      part === 'S' ? startKey(projectId, id) : endKey(projectId, id),
    );
    for (const item of await getItems(store.table, keys, budget, options)) {
      const read = toCallItem(store, projectId, item);
      found.set(nameText({ projectId, ...read }), read);
    }
  }
  return found;
};

export type StartedItem = CallItem & { readonly start: StartHeader };
export type EndedItem = CallItem & { readonly end: EndHeader };

export const hasStart = (item: CallItem | null | undefined): item is StartedItem => !!item?.start;
export const hasEnd = (item: CallItem | null | undefined): item is EndedItem => !!item?.end;

/** The call of a start and an end, which may be of one item, with the payloads that they hold. */
export const callOf = (projectId: ProjectId, start: StartedItem, end: EndedItem | undefined): CallHeader => {
  const inline = [start, end].flatMap((item) => (item?.inline ? [[item.part, item.inline] as const] : []));
  return {
    projectId,
    id: start.id,
    start: start.start,
    end: end?.end ?? null,
    endPart: end?.part ?? 'E',
    ...(inline.length > 0 && { inline: new Map(inline) }),
  };
};
