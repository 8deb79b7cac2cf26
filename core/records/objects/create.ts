import {
  compareAndSwap,
  type RequestBudget,
  type Store,
  type Transaction,
  transact,
} from '../../foundations/storage/index.ts';
import { checkDigest, type JsonValue } from '../../foundations/wire/index.ts';
import { baseObjectClassOf, kindOf } from './classify.ts';
import { digestOf } from './digest.ts';
import { noteKey, type ValueName } from './keys.ts';
import { findVersions, readHeads } from './lookup.ts';
import type { ObjectName, VersionHeader } from './model.ts';
import { digestItem, type Head, headItem, unchanged, versionItem } from './store.ts';
import { sweep } from './sweep.ts';
import { packValue, putValue } from './values.ts';

/** An object as a client makes it, checked. */
export interface NewObject extends ObjectName {
  readonly val: JsonValue;
  /** The digest that the client computed; null for none. @default null */
  readonly expected?: string | null;
}

/**
 * Makes a new version of an object, unless one has this value already. The version is durable when
 * this returns. It may be when this throws, and the same request may be sent again.
 *
 * @param userId whose key makes it
 * @returns the digest of the value
 * @throws ServiceError 409 if the client expects another digest; 503 when storage does not take it
 * in time, or others change the object all
 * the while
 */
export const createObject = async (
  store: Store,
  { val, expected = null, ...name }: NewObject,
  userId: string,
  budget: RequestBudget,
): Promise<string> => {
  const digest = digestOf(val, store.names.dialect);
  checkDigest({ of: 'this value', digest, expected, within: ['obj'] });
  const { packed, bytes, home } = await packValue(val);
  const about = {
    ...name,
    digest,
    kind: kindOf(val, store.names.dialect),
    baseObjectClass: baseObjectClassOf(val),
    bytes,
    home,
  };
  const strays: ValueName[] = [];
  await compareAndSwap(budget, async () => {
    const [[known], [head]] = await Promise.all([
      findVersions(store, [{ ...name, version: { digest } }], budget),
      readHeads(store, [name], budget),
    ]);
    if (known) return { value: undefined };
    const header = { ...about, userId, versionIndex: head?.next ?? 0, createdAt: Date.now() * 1000 };
    // Nothing shows before its value is stored.
    if (home === 'bucket') await putValue(store, header, packed, budget);
    const made = await transact(store.table, making(header, head, packed), budget);
    if (!made && home === 'bucket') strays.push(header);
    return made ? { value: undefined } : undefined;
  });
  if (strays.length > 0) await sweep(store, name, strays, budget);
  return digest;
};

/**
 * The transaction that makes a version. It requires that the digest is new to the object, which the
 * head alone does not tell.
 */
const making = (header: VersionHeader, head: Head | undefined, packed: Uint8Array): Transaction => {
  const { projectId, objectId, versionIndex, home } = header;
  const next = {
    projectId,
    objectId,
    next: versionIndex + 1,
    generation: (head?.generation ?? 0) + 1,
    latest: header,
  };
  return {
    puts: [
      { item: headItem(next), expected: unchanged(head) },
      { item: versionItem(header) },
      { item: digestItem(header, home === 'item' ? packed : null), expected: { k: undefined } },
    ],
    deletes: home === 'bucket' ? [noteKey(header)] : [],
  };
};
