import { bySize } from '../../../foundations/listing/index.ts';
import { mapConcurrent, type RequestBudget, type Store } from '../../../foundations/storage/index.ts';
import {
  type JsonValue,
  type ProjectId,
  parseJson,
  parseTableRef,
  parseVersionName,
  type Ref,
} from '../../../foundations/wire/index.ts';
import { parsePath, type ReadRow, type Step, walkIntoRows } from '../../../foundations/wire/path.ts';
import { RowReader } from '../tables/index.ts';
import { type Address, type FoundVersion, findVersions, readValues } from './read.ts';

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
  const parsedRefs = parsed.flatMap((ref) => ref ?? []);
  const found = await findVersions(
    store,
    parsedRefs.map(({ address }) => address),
    budget,
  );
  const located = new Map(parsedRefs.map((ref, i) => [ref, found[i]]));
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
 * Makes what reads the rows of a project's tables. A ref into another project is not followed, since nobody asked whether the caller may read that one.
 */
const rowsIn = (store: Store, budget: RequestBudget): ((projectId: ProjectId) => ReadRow) => {
  const reader = new RowReader(store, budget);
  return (projectId) => async (table, digest) => {
    if (typeof table !== 'string') return undefined;
    const ref = parseTableRef(table);
    return ref?.projectId === projectId ? reader.read(projectId, ref.digest, digest) : undefined;
  };
};

const resolveValues = async (
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
      : walkIntoRows(value, ref.steps, readRows(ref.version.header.projectId));
  });
};

/**
 * Reads what refs lead to, each version of an object once. Grants are not checked. A ref may have
 * `latest` or `v<N>` instead of a digest, and may say `object` for an op or the reverse.
 *
 * @param refs no more than whose values may be held at once; a ref to a call is a ref to nothing
 * @returns the values in the order of the refs, undefined for a ref to nothing. Values of refs into
 * one object share structure, so nobody may change them
 */
export const resolveRefs = async (
  store: Store,
  refs: readonly Ref[],
  budget: RequestBudget,
): Promise<(JsonValue | undefined)[]> => resolveValues(store, await locate(store, refs, budget), budget);

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
  const getSize = (ref: Located | undefined) => ref?.version.header.bytes ?? 0;
  for (const window of bySize(located, windowBytes, getSize))
    yield await resolveValues(store, window, budget);
}
