import { type Digests, ownDigests } from '../../../foundations/door.ts';
import {
  compareAndSwap,
  type RequestBudget,
  type Store,
  type Transaction,
  transact,
} from '../../../foundations/storage/index.ts';
import { checkDigest, isJsonObject, type JsonValue } from '../../../foundations/wire/index.ts';
import { redactObject } from '../redaction.ts';
import { classWithMeaning, getOwnClass, requireRoom } from './classes.ts';
import { sweep } from './delete.ts';
import {
  digestItem,
  type Head,
  headItem,
  memberChanges,
  noteKey,
  unchanged,
  type ValueName,
  versionItem,
} from './items.ts';
import type { AuthorizeChange, ObjectName, VersionHeader } from './model.ts';
import { findVersions, packValue, putValue, readHeads } from './read.ts';

/** An object's own field of a name; undefined where the value is no object or has none. */
const own = (value: JsonValue, name: string): JsonValue | undefined =>
  isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;

/** Whether a value is an op. Weave's SDKs store ops as custom types, whose `weave_type.type` is `Op`. */
const isOp = (value: JsonValue): boolean =>
  own(value, '_type') === 'op' || own(own(value, 'weave_type') ?? null, 'type') === 'Op';

/** Classes that everything is built upon say nothing. */
const roots: ReadonlySet<string> = new Set(['Object', 'BaseModel']);
const maxClass = 256;

const isClassName = (value: JsonValue | undefined): value is string =>
  typeof value === 'string' && value.length > 0 && value.length <= maxClass && value.isWellFormed();

/**
 * The class that a value's class is built upon. `_bases` names its bases, the nearest first: it is
 * the last of them other than `Object` and `BaseModel`. If there is none, it is `_class_name`. A value
 * with neither field, not even one of null, has its `_type` as class, unless it is an op.
 *
 * @returns null if the value names no class of 1–256 characters
 */
export const getBaseObjectClass = (value: JsonValue, kind: 'op' | 'object'): string | null => {
  const bases = own(value, '_bases');
  const base = Array.isArray(bases)
    ? bases.findLast((name): name is string => isClassName(name) && !roots.has(name))
    : undefined;
  const className = own(value, '_class_name') ?? (kind === 'object' ? getOwnClass(value) : undefined);
  return base ?? (isClassName(className) ? className : null);
};

/** An object as a client makes it, checked. */
export interface NewObject extends ObjectName {
  readonly val: JsonValue;
  /** The digest that the client computed. @default - it did not */
  readonly expected?: string | null;
}

/** What may be refused while an object is made. Each throws a ServiceError. @default - nothing is */
export interface ObjectChecks {
  /**
   * Refuses what may not be stored. It gets the object as it is stored, which redaction can have made
   * another one than was sent.
   */
  readonly admit?: (stored: ObjectName & { readonly val: JsonValue }) => Promise<void>;
  /** Refuses what the version would cover. */
  readonly authorize?: AuthorizeChange;
  /** Learns what is about to be stored, and what it covers. */
  readonly announce?: (
    stored: ObjectName & { readonly val: JsonValue },
    covered: VersionHeader | null,
  ) => Promise<void>;
}

/**
 * Makes a new version of an object, unless one has this value already. The version is durable when
 * this returns. It may be when this throws, and the same request may be sent again.
 *
 * @param userId whose key makes it
 * @returns the digest of the value, as it was sent
 * @throws ServiceError 409 if the client expects another digest; as {@link redactObject}, the checks
 * and {@link requireRoom}; 503 when storage does not take it in time, or others change the object all the while
 */
export const createObject = async (
  store: Store,
  { val: sent, expected = null, ...name }: NewObject,
  userId: string,
  budget: RequestBudget,
  { admit, authorize, announce }: ObjectChecks = {},
  digests: Digests = ownDigests,
): Promise<string> => {
  const digest = digests.ofValue(sent);
  const val = await redactObject(store, name.objectId, sent, classWithMeaning);
  await admit?.({ ...name, val });
  checkDigest({ what: 'this value', digest, expected, within: ['obj'] });
  store.noteProject?.(name.projectId);
  const { packed, bytes, home } = await packValue(val);
  const kind = isOp(val) ? 'op' : 'object';
  const baseObjectClass = getBaseObjectClass(val, kind);
  const meaning = classWithMeaning(val) ?? null;
  const about = { ...name, digest, kind, baseObjectClass, meaning, bytes, home } as const;
  const orphans: ValueName[] = [];
  await compareAndSwap(budget, async () => {
    const [[known], [head]] = await Promise.all([
      findVersions(store, [{ ...name, version: { digest } }], budget),
      readHeads(store, [name], budget),
    ]);
    if (known) return { value: undefined };
    // The transaction takes the head as it was read, so nothing else is covered.
    if (head?.latest) await authorize?.({ deleted: [], covered: head.latest, uncovered: null });
    if (meaning !== null && head?.latest?.meaning !== meaning)
      await requireRoom(store, name.projectId, meaning, budget);
    await announce?.({ ...name, val }, head?.latest ?? null);
    const header = { ...about, userId, versionIndex: head?.next ?? 0, createdAt: Date.now() * 1000 };
    // Nothing shows before its value is stored.
    if (home === 'bucket') await putValue(store, header, packed, budget);
    const made = await transact(store.table, creation(header, head, packed), budget);
    if (!made && home === 'bucket') orphans.push(header);
    return made ? { value: undefined } : undefined;
  });
  if (orphans.length > 0) await sweep(store, name, orphans, budget);
  return digest;
};

/**
 * The transaction that makes a version. It requires that the digest is new to the object, which the
 * head alone does not tell.
 */
const creation = (header: VersionHeader, head: Head | undefined, packed: Uint8Array): Transaction => {
  const { projectId, objectId, versionIndex, home } = header;
  const next = {
    projectId,
    objectId,
    next: versionIndex + 1,
    generation: (head?.generation ?? 0) + 1,
    latest: header,
  };
  const members = memberChanges(head?.latest ?? null, header);
  return {
    puts: [
      { item: headItem(next), expected: unchanged(head) },
      { item: versionItem(header) },
      { item: digestItem(header, home === 'item' ? packed : null), expected: { k: undefined } },
      ...members.puts,
    ],
    deletes: [...(home === 'bucket' ? [noteKey(header)] : []), ...members.deletes],
  };
};
