import {
  type ActorKind,
  actorKinds,
  entityOf,
  parseScope,
  type Scope,
} from '../../foundations/auth/grants.ts';
import { fromUnsignedTimeBytes, joinBytes, unsignedTimeBytes } from '../../foundations/encoding/keys.ts';
import {
  asBytes,
  asNumber,
  asText,
  type Cursor,
  type Item,
  insertItems,
  queryPage,
  type RequestBudget,
  type Table,
} from '../../foundations/storage/index.ts';
import type { TableKey, TableRange } from '../../foundations/storage/tables.ts';
import { formatTime, type JsonValue, type Micros, newId } from '../../foundations/wire/index.ts';

/*
 * The audit trail: who did what, to what, when and from where. Entries are inserted and end by themselves.
 * Nothing replaces or deletes one, and no role of a function could: docs/decisions/0290.
 */

/** Who did something. */
export interface Actor {
  readonly kind: ActorKind;
  /** The user of a key, a person, or an ARN. */
  readonly user: string;
  /** The key, or what a role or person is granted by. */
  readonly keyId?: string | undefined;
}

/** What was done, as {@link appendAudit} takes it. */
export interface AuditEntry {
  /** What it is about: a project, an entity (`acme/*`), or the service as a whole (`*`). */
  readonly scope: Scope;
  readonly actor: Actor;
  /** The IP address that it came from; null if it is not known. */
  readonly address: string | null;
  /** A dotted name, such as `key.create`. */
  readonly action: string;
  /** What it was done to: the id of a key or an object, a member, … */
  readonly target: string;
  /** What was there before, as far as it counts. No secrets. @default - nothing */
  readonly before?: JsonValue | undefined;
  /** What is there since. No secrets. @default - nothing */
  readonly after?: JsonValue | undefined;
  /**
   * What tells entries apart, with the time: the same id at the same time is the same entry. 1–256 characters.
   *
   * @default - a new one
   */
  readonly id?: string | undefined;
  /** When it was done, in microseconds since 1970. @default - now */
  readonly at?: Micros | undefined;
}

/** A change, as whoever makes it says it: who that is, and from where, is for others to say. */
export type AuditedChange = Omit<AuditEntry, 'actor' | 'address'>;

/**
 * Puts changes on the audit trail, before they are made.
 *
 * @throws ServiceError 503 if one cannot be stored in time: the change must not be made then
 */
export type Audit = (...changes: readonly AuditedChange[]) => Promise<void>;

/** An entry as it is answered, and told on the bus. */
export type AuditRecord = {
  readonly id: string;
  readonly at: string;
  /** The project; null if it is about an entity or the service as a whole. */
  readonly project_id: string | null;
  /** The entity; null if it is about the service as a whole. */
  readonly entity: string | null;
  readonly actor: { readonly kind: ActorKind; readonly user: string; readonly key_id?: string };
  readonly address: string | null;
  readonly action: string;
  readonly target: string;
  readonly before?: JsonValue;
  readonly after?: JsonValue;
};

/** The table of the audit trail, and how long entries stay. */
export interface AuditStore {
  readonly table: Table;
  readonly days: number;
}

/** The partition of all entries about an entity and its projects. No entity has the name `*`. */
const toPartition = (scope: Scope): Uint8Array => Buffer.from(entityOf(scope), 'utf8');

const toKey = (scope: Scope, at: Micros, id: string): TableKey<'audit'> => ({
  k: toPartition(scope),
  s: joinBytes(unsignedTimeBytes(at), id),
});

/** The most bytes that the value before or after may take, as JSON. */
const maxValueBytes = 4096;
/** How much of a longer one is kept, in characters. */
const keptCharacters = 1000;
const maxTarget = 1024;

/** A key as its holder sends it. Of what looks like one only the id is kept. */
const keys = /\b(svc|weave)_([0-9a-z]{16})_[0-9a-fA-F]{64}\b/g;

const withoutKeys = (text: string): string => text.replace(keys, '$1_$2_…');

const toText = (value: JsonValue | undefined): string | undefined => {
  if (value === undefined) return undefined;
  const text = withoutKeys(JSON.stringify(value));
  const bytes = Buffer.byteLength(text);
  if (bytes <= maxValueBytes) return text;
  return JSON.stringify({ cut: true, bytes, beginning: text.slice(0, keptCharacters).toWellFormed() });
};

let latest = 0;

/** The time now, in microseconds: later than that of any entry before it in this container. */
const nextMicros = (): Micros => {
  latest = Math.max(Date.now() * 1000, latest + 1);
  return latest;
};

const dayMicros = 86_400_000_000;

const toItem = (
  { scope, actor, address, action, target, before, after, id = newId(), at = nextMicros() }: AuditEntry,
  days: number,
): Item => {
  const texts = {
    keyId: actor.keyId,
    address: address ?? undefined,
    before: toText(before),
    after: toText(after),
  };
  return {
    ...toKey(scope, at, id),
    // Somebody may have signed in long ago: an entry stays from when it is stored.
    x: Math.floor((Math.max(at, Date.now() * 1000) + days * dayMicros) / 1_000_000),
    scope,
    kind: actor.kind,
    user: actor.user,
    action,
    target: withoutKeys(target).slice(0, maxTarget).toWellFormed(),
    ...Object.fromEntries(Object.entries(texts).flatMap(([name, text]) => (text ? [[name, text]] : []))),
  };
};

const toValue = (item: Item, name: string): JsonValue | undefined => {
  const text = asText(item[name]);
  return text === undefined ? undefined : (JSON.parse(text) as JsonValue);
};

/** @throws Error if {@link appendAudit} did not write the item */
const toRecord = (item: Item): AuditRecord => {
  const key = asBytes(item.s);
  const scope = parseScope(asText(item.scope) ?? '');
  const kind = actorKinds.find((name) => name === item.kind);
  if (!key || !scope || !kind || asNumber(item.x) === undefined) throw new Error('an audit entry is damaged');
  const keyId = asText(item.keyId);
  const before = toValue(item, 'before');
  const after = toValue(item, 'after');
  return {
    id: Buffer.from(key.subarray(8)).toString('utf8'),
    at: formatTime(fromUnsignedTimeBytes(key.subarray(0, 8))),
    project_id: scope === '*' || scope.endsWith('/*') ? null : scope,
    entity: scope === '*' ? null : entityOf(scope),
    actor: { kind, user: asText(item.user) ?? '', ...(keyId !== undefined && { key_id: keyId }) },
    address: asText(item.address) ?? null,
    action: asText(item.action) ?? '',
    target: asText(item.target) ?? '',
    ...(before !== undefined && { before }),
    ...(after !== undefined && { after }),
  };
};

/**
 * Appends entries to the audit trail. What has the id and the time of an entry that is there is that entry, and
 * changes nothing. Whoever audits does so before the change: a change without an entry cannot be found.
 *
 * @returns the entries that are new, as they are stored
 * @throws ServiceError 503 when storage does not accept one in time; others may be stored
 */
export const appendAudit = async (
  { table, days }: AuditStore,
  entries: readonly AuditEntry[],
  budget: RequestBudget,
): Promise<AuditRecord[]> => {
  const items = entries.map((entry) => toItem(entry, days));
  const present = new Set(await insertItems(table, items, budget));
  return items.filter((item) => !present.has(item)).map(toRecord);
};

/** Which entries are asked for. */
export interface AuditQuestion {
  /** A project; `acme/*` for all about an entity and its projects; `*` for what is about the service as a whole. */
  readonly scope: Scope;
  /** From when on, in microseconds since 1970. */
  readonly start: Micros;
  /** Until when; this time is not part of it. */
  readonly end: Micros;
  /** The user, or the id of the key. @default - anybody */
  readonly actor?: string | null | undefined;
  /** An action, or the first word of several: `key` for `key.create` and `key.revoke`. @default - any */
  readonly action?: string | null | undefined;
  /** The most entries. */
  readonly limit: number;
}

const isAsked = (record: AuditRecord, { scope, actor, action }: AuditQuestion): boolean =>
  (scope === '*' || scope.endsWith('/*') || record.project_id === scope) &&
  (!actor || record.actor.user === actor || record.actor.key_id === actor) &&
  (!action || record.action === action || record.action.startsWith(`${action}.`));

const toRange = ({ scope, start, end }: AuditQuestion): TableRange<'audit'> => ({
  partition: ['k', toPartition(scope)],
  // A key has an id behind its time, so it is above the bound of the same time.
  sort: ['s', unsignedTimeBytes(start), unsignedTimeBytes(end)],
});

/** Reads entries, the newest first. Those of an entity lie together, so a project's take as much to read. */
export const queryAudit = async (
  table: Table,
  question: AuditQuestion,
  budget: RequestBudget,
): Promise<AuditRecord[]> => {
  const found: AuditRecord[] = [];
  if (question.end <= question.start) return found;
  let start: Cursor | undefined;
  do {
    const page = await queryPage(table, toRange(question), budget, {
      descending: true,
      consistent: true,
      start,
    });
    found.push(...page.items.map(toRecord).filter((record) => isAsked(record, question)));
    start = page.next;
  } while (start && found.length < question.limit);
  return found.slice(0, question.limit);
};
