import { bySize } from '../../foundations/listing/index.ts';
import { mapConcurrent, type RequestBudget, type Store } from '../../foundations/storage/index.ts';
import {
  isJsonObject,
  type JsonValue,
  type ProjectId,
  parseJson,
  parseTableRef,
  type Ref,
} from '../../foundations/wire/index.ts';
import { RowReader } from '../tables/index.ts';
import { parseVersionName } from './model.ts';
import { type Address, type FoundVersion, findVersions, readValues } from './read.ts';

/**
 * One step of a ref's path into a value. It leads to an object's field, to an item of a list, or to
 * the row of a table by its digest.
 */
export type Step = { readonly name: string } | { readonly index: number } | { readonly row: string };

const rowDigest = /^[A-Za-z0-9]{43}$/;
const position = /^(?:0|[1-9]\d{0,9})$/;

/** A name as it is meant: percent-encoded UTF-8, or, where it is no such thing, as it stands. */
const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

const stepOf = (kind: string, what: string): Step | undefined => {
  if (kind === 'attr' || kind === 'key') return { name: decoded(what) };
  if (kind === 'id') return rowDigest.test(what) ? { row: what } : undefined;
  return kind === 'index' && position.test(what) ? { index: Number(what) } : undefined;
};

/**
 * Parses the path of a ref. It is made of pairs. `attr/<name>` and `key/<name>` lead to a field of
 * an object. `index/<n>` leads to an item of a list, from 0 up. `id/<digest>` leads to the row of
 * the table that a ref names. A name has `%2F` for `/` and `%25` for `%`.
 *
 * @returns the steps, none for an empty path; undefined if it is no path
 */
export const parsePath = (path: string): Step[] | undefined => {
  if (path === '') return [];
  const parts = path.split('/');
  if (parts.length % 2 !== 0) return undefined;
  const steps: Step[] = [];
  for (let i = 0; i < parts.length; i += 2) {
    const step = stepOf(parts[i] ?? '', parts[i + 1] ?? '');
    if (step === undefined) return undefined;
    steps.push(step);
  }
  return steps;
};

/** Reads the row of a table that a value refers to; undefined if there is none. */
export type ReadRow = (table: JsonValue, digest: string) => Promise<JsonValue | undefined>;

/**
 * Follows a path into a value. Refs on the way are texts like any other, and are not followed.
 *
 * @returns undefined if it leads nowhere
 */
export const walk = async (
  value: JsonValue,
  steps: readonly Step[],
  readRow: ReadRow,
): Promise<JsonValue | undefined> => {
  let at: JsonValue | undefined = value;
  for (const step of steps) {
    if (at === undefined) return undefined;
    if ('row' in step) at = await readRow(at, step.row);
    else if ('index' in step) at = Array.isArray(at) ? at[step.index] : undefined;
    else at = isJsonObject(at) && Object.hasOwn(at, step.name) ? at[step.name] : undefined;
  }
  return at;
};

/** Values are read for so many bytes of answers at a time, or one. */
const windowBytes = 16 * 1024 * 1024;

/** Where a ref leads: an address and the steps from there; undefined if it cannot lead anywhere. */
const parse = (ref: Ref): { readonly address: Address; readonly steps: readonly Step[] } | undefined => {
  if (ref.kind === 'call') return undefined;
  const { projectId, name: objectId, digest, path } = ref;
  const steps = parsePath(path);
  return steps && { address: { projectId, objectId, version: parseVersionName(digest) }, steps };
};

/** A ref whose object was found. */
interface Located {
  readonly version: FoundVersion;
  readonly steps: readonly Step[];
}

/**
 * Looks up the objects of refs, in their order; undefined for a ref to nothing. Refs to the same
 * version share it.
 */
const locate = async (
  store: Store,
  refs: readonly Ref[],
  budget: RequestBudget,
): Promise<(Located | undefined)[]> => {
  const parsed = refs.map(parse);
  const wanted = parsed.flatMap((ref) => ref ?? []);
  const found = await findVersions(
    store,
    wanted.map(({ address }) => address),
    budget,
  );
  const located = new Map(wanted.map((ref, i) => [ref, found[i]]));
  return parsed.map((ref) => {
    const version = ref && located.get(ref);
    return version && { version, steps: ref.steps };
  });
};

/** Tells versions apart. */
const versionText = ({ header }: FoundVersion): string =>
  [header.projectId, header.objectId, header.versionIndex].join('\n');

/** How many refs are followed at once. */
const concurrency = 8;

/**
 * Makes what reads the rows of a project's tables. Only Weave's dialect has any. A ref into another
 * project is not followed, since nobody asked whether the caller may read that one.
 */
const rowsIn = (store: Store, budget: RequestBudget): ((projectId: ProjectId) => ReadRow) => {
  const reader = new RowReader(store, budget);
  return (projectId) => async (table, digest) => {
    if (store.names.dialect !== 'weave' || typeof table !== 'string') return undefined;
    const ref = parseTableRef(store.names, table);
    return ref?.projectId === projectId ? reader.read(projectId, ref.digest, digest) : undefined;
  };
};

const valuesOf = async (
  store: Store,
  refs: readonly (Located | undefined)[],
  budget: RequestBudget,
): Promise<(JsonValue | undefined)[]> => {
  const versions = new Map(refs.flatMap((ref) => (ref ? [[versionText(ref.version), ref.version]] : [])));
  const texts = await readValues(store, [...versions.values()], budget);
  const values = new Map(
    [...versions.keys()].map((name, i): [string, JsonValue | undefined] => {
      const text = texts[i];
      return [name, text === undefined ? undefined : (parseJson(text) as JsonValue)];
    }),
  );
  const readRows = rowsIn(store, budget);
  return mapConcurrent(refs, concurrency, async (ref) => {
    const value = ref && values.get(versionText(ref.version));
    return value === undefined || !ref
      ? undefined
      : walk(value, ref.steps, readRows(ref.version.header.projectId));
  });
};

/**
 * Reads what refs lead to, each version of an object once. Grants are not checked. A ref may have
 * `latest` or `v<N>` instead of a digest, and may say `object` for an op or the reverse.
 *
 * @param refs no more than whose values may be held at once; a ref to a call is a ref to nothing
 * @returns the values in the order of the refs, undefined for a ref to nothing. Values of refs into
 * one object share structure, so nobody may change them
 * @throws ServiceError 503 when storage does not give them in time
 */
export const resolveRefs = async (
  store: Store,
  refs: readonly Ref[],
  budget: RequestBudget,
): Promise<(JsonValue | undefined)[]> => valuesOf(store, await locate(store, refs, budget), budget);

/**
 * Reads what refs lead to, as {@link resolveRefs} does, but window by window. However many refs
 * there are, at most some 16 MB of values, or one value, are held at once.
 *
 * @returns the values in batches, in the order of the refs
 */
export async function* streamRefs(
  store: Store,
  refs: readonly Ref[],
  budget: RequestBudget,
): AsyncGenerator<(JsonValue | undefined)[]> {
  const located = await locate(store, refs, budget);
  const sizeOf = (ref: Located | undefined) => ref?.version.header.bytes ?? 0;
  for (const window of bySize(located, windowBytes, sizeOf)) yield await valuesOf(store, window, budget);
}
