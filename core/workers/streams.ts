import type { SQSClient } from '@aws-sdk/client-sqs';
import {
  asBytes,
  getItems,
  type Item,
  itemFromWire,
  mapConcurrent,
  type RequestBudget,
  type Store,
  type WireItem,
  withRetries,
} from '../../foundations/storage/index.ts';
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type Micros,
  type ProjectId,
  parseJson,
  parseProjectId,
  ServiceError,
} from '../../foundations/wire/index.ts';
import {
  type CallHeader,
  type CallPart,
  type EndHeader,
  endKey,
  fromItem,
  type Payload,
  PayloadReader,
  readCallId,
  type StartHeader,
  type StoredPart,
  startKey,
} from '../records/calls/index.ts';
import type { Costs } from '../records/costs/index.ts';

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
export const getSequence = ({ dynamodb }: StreamRecord): string => dynamodb?.SequenceNumber ?? '';

const toItem = (image: unknown): Item | undefined =>
  image === undefined || image === null ? undefined : itemFromWire(image as WireItem);

/** The project at the beginning of a key, before the first zero byte. */
const readProject = (key: Item): ProjectId => {
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
  const key = toItem(Keys) ?? {};
  return {
    table: record.eventSourceARN?.split('/')[1] ?? '',
    projectId: readProject(key),
    sequence: getSequence(record),
    at: Math.round(seconds * 1e6),
    key,
    before: toItem(OldImage),
    after: toItem(NewImage),
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
  readonly part: CallPart;
}

export interface CallChange extends CallItemName {
  readonly change: ItemChange;
  readonly before: CallItem | undefined;
  readonly after: CallItem | undefined;
}

/** An item's name as text, for look-ups. No project and no id has a line break. */
export const nameText = ({ projectId, id, part }: CallItemName): string => `${projectId}\n${id}\n${part}`;

const toCallItem = (projectId: ProjectId, item: Item): CallItem => ({
  ...fromItem(projectId, item),
  isIndexed: item.tk !== undefined,
});

/**
 * Reads a change of the calls table.
 *
 * @returns undefined if the item is no call's but a segment of payloads
 * @throws Error if an item has no header, or one that a later release wrote
 */
export const toCallChange = (change: ItemChange): CallChange | undefined => {
  const { projectId, key, before, after } = change;
  const bytes = asBytes(key.k);
  const part = key.p;
  if (!bytes || (part !== 'S' && part !== 'E')) return undefined;
  return {
    projectId,
    id: readCallId(projectId, bytes),
    part,
    change,
    before: before && toCallItem(projectId, before),
    after: after && toCallItem(projectId, after),
  };
};

/** Reads items of calls from the table. Those that are not there are left out. */
export const readCallItems = async (
  store: Store,
  names: readonly CallItemName[],
  budget: RequestBudget,
  options: { readonly consistent: boolean },
): Promise<Map<string, CallItem>> => {
  const found = new Map<string, CallItem>();
  const byProject = Map.groupBy(
    new Map(names.map((name) => [nameText(name), name])).values(),
    ({ projectId }) => projectId,
  );
  for (const [projectId, names] of byProject) {
    const keys = names.map(({ id, part }) =>
      part === 'S' ? startKey(projectId, id) : endKey(projectId, id),
    );
    for (const item of await getItems(store.table, keys, budget, options)) {
      const read = toCallItem(projectId, item);
      found.set(nameText({ projectId, ...read }), read);
    }
  }
  return found;
};

type StartedItem = CallItem & { readonly start: StartHeader };
type EndedItem = CallItem & { readonly end: EndHeader };

export const hasStart = (item: CallItem | null | undefined): item is StartedItem => !!item?.start;
export const hasEnd = (item: CallItem | null | undefined): item is EndedItem => !!item?.end;

/** The call of a start and an end, which may be of one item, with the payloads that they hold. */
export const toCall = (projectId: ProjectId, start: StartedItem, end: EndedItem | undefined): CallHeader => {
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

/** Gives the costs of a project's calls, at the prices in force when they started. */
export type CostsOfProject = (
  projectId: ProjectId,
  budget: RequestBudget,
) => Promise<(usage: JsonObject, startedAt: Micros) => Costs>;

/** Where calls and prices are. */
export interface MeasureSources {
  readonly calls: Store;
  readonly costs: CostsOfProject;
}

/** What calls used and cost. */
export interface Measured {
  readonly usage: JsonValue;
  readonly costs: Costs;
  /** Null if it was not asked for. */
  readonly payload: Payload | null;
}

/** The usage of a call: as its header has it, else as its summary does. */
const getUsage = ({ end }: CallHeader, payload: Payload | undefined): JsonValue => {
  if (end?.usage !== true) return end?.usage ?? {};
  const summary = parseJson(payload?.summary ?? '{}') as JsonValue;
  return isJsonObject(summary) ? (summary.usage ?? {}) : {};
};

const measureProject = async (
  { calls, costs }: MeasureSources,
  projectId: ProjectId,
  headers: readonly CallHeader[],
  wantsPayloads: boolean,
  budget: RequestBudget,
): Promise<Map<CallHeader, Measured>> => {
  const needsPayload = ({ end }: CallHeader) => wantsPayloads || end?.usage === true;
  const needed = headers.filter(needsPayload);
  const read = needed.length > 0 ? await new PayloadReader(calls, projectId, budget).read(needed) : [];
  const payloads = new Map(read.map(({ header, payload }) => [header, payload]));
  const computeCosts = headers.some(({ end }) => end?.usage) ? await costs(projectId, budget) : () => ({});
  return new Map(
    headers.flatMap((header): [CallHeader, Measured][] => {
      const payload = payloads.get(header);
      if (needsPayload(header) && !payload) return [];
      const usage = getUsage(header, payload);
      return [
        [
          header,
          {
            usage,
            costs: isJsonObject(usage) ? computeCosts(usage, header.start.startedAt) : {},
            payload: wantsPayloads ? (payload ?? null) : null,
          },
        ],
      ];
    }),
  );
};

/**
 * Finds what calls used and cost. Calls whose payload is needed and gone are left out: they have
 * been deleted meanwhile.
 *
 * @param wantsPayloads whether to read the payloads of all
 */
export const measure = async (
  sources: MeasureSources,
  headers: readonly CallHeader[],
  wantsPayloads: boolean,
  budget: RequestBudget,
): Promise<Map<CallHeader, Measured>> => {
  const measured = new Map<CallHeader, Measured>();
  for (const [projectId, some] of Map.groupBy(headers, ({ projectId }) => projectId))
    for (const [header, found] of await measureProject(sources, projectId, some, wantsPayloads, budget))
      measured.set(header, found);
  return measured;
};

/** What could not be delivered, and never will be as it is. */
export interface DeadLetter {
  readonly reason: string;
  /** The record that could not be used, without its images. */
  readonly record?: JsonValue;
  /** The event that was refused, as it can be sent by hand. */
  readonly event?: JsonValue;
}

/** Where dead letters go. The client is made at the first one. */
export interface DeadLetterQueue {
  readonly url: string;
  readonly client: () => Promise<SQSClient>;
}

/** What identifies a record: its stream, its number and the key of its item. */
const recordLabel = ({ eventID, eventSourceARN, dynamodb }: StreamRecord): JsonValue => ({
  event_id: eventID ?? null,
  stream: eventSourceARN ?? null,
  sequence_number: dynamodb?.SequenceNumber ?? null,
  keys: (dynamodb?.Keys ?? null) as JsonValue,
});

/** The results of records, and a letter for each record that could not be used. */
interface Isolated<R> {
  readonly results: readonly R[];
  readonly letters: readonly DeadLetter[];
}

/**
 * Works on records as a whole. If that fails because of what is in them, it works on their halves,
 * down to the record that fails by itself. That one becomes a letter, and holds no other up.
 *
 * @throws ServiceError if storage fails: the records may come again as they are
 */
export const isolateRecords = async <R>(
  records: readonly StreamRecord[],
  work: (some: readonly StreamRecord[]) => Promise<readonly R[]>,
): Promise<Isolated<R>> => {
  try {
    return { results: await work(records), letters: [] };
  } catch (error) {
    if (error instanceof ServiceError || !(error instanceof Error)) throw error;
    if (records.length <= 1) {
      const reason = `${error.name}: ${error.message}`;
      return { results: [], letters: records.map((record) => ({ reason, record: recordLabel(record) })) };
    }
    const middle = records.length >> 1;
    const before = await isolateRecords(records.slice(0, middle), work);
    const after = await isolateRecords(records.slice(middle), work);
    return {
      results: [...before.results, ...after.results],
      letters: [...before.letters, ...after.letters],
    };
  }
};

/** Letters that are on their way at once. */
const concurrency = 8;

/**
 * Puts letters into the queue.
 *
 * @throws ServiceError 503 when the queue does not take them in time
 */
export const sendDeadLetters = async (
  { url, client }: DeadLetterQueue,
  letters: readonly DeadLetter[],
  budget: RequestBudget,
): Promise<void> => {
  if (letters.length === 0) return;
  const [sqs, { SendMessageCommand }] = await Promise.all([client(), import('@aws-sdk/client-sqs')]);
  await mapConcurrent(letters, concurrency, (letter) =>
    withRetries(budget, async (options) => {
      await sqs.send(new SendMessageCommand({ QueueUrl: url, MessageBody: JSON.stringify(letter) }), options);
      return true;
    }),
  );
};
