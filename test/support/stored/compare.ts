import { comparableBytes } from './bytes.ts';
import { type Entry, nameOf } from './snapshot.ts';

/** What becomes of entries: those that are put, in full, and the names of those that go. */
export interface Changes {
  readonly put: readonly Entry[];
  readonly gone: readonly string[];
}

const byName = (entries: readonly Entry[]): Map<string, Entry> =>
  new Map(entries.map((entry) => [nameOf(entry), entry]));

/** Says what has become of entries. */
export const changesOf = (before: readonly Entry[], after: readonly Entry[]): Changes => {
  const [old, now] = [byName(before), byName(after)];
  const isSame = (entry: Entry) => JSON.stringify(old.get(nameOf(entry))) === JSON.stringify(entry);
  return {
    put: after.filter((entry) => !isSame(entry)),
    gone: [...old.keys()].filter((name) => !now.has(name)),
  };
};

/** Makes changes to entries. */
export const withChanges = (before: readonly Entry[], { put, gone }: Changes): Entry[] => {
  const entries = byName(before);
  for (const name of gone) entries.delete(name);
  for (const entry of put) entries.set(nameOf(entry), entry);
  return [...entries.values()];
};

/** The sixteen hex digits that a feedback payload's object ends with are random. */
const withoutNonce = (text: string): string =>
  text.replace(/(feedback\/[^"]*-)[0-9a-f]{16}(?=\.zst)/g, '$1nonce');

/**
 * Entries as lines of JSON, in order, without what differs each time they are written.
 *
 * @param sameZstd whether all frames come of one version of zstd; if not their content counts alone
 */
export const comparable = (entries: readonly Entry[], sameZstd: boolean): string[] => {
  const text = (entry: Entry): string =>
    JSON.stringify(entry, (key, value: unknown) =>
      sameZstd || (key !== 'B' && key !== 'body')
        ? value
        : comparableBytes(value as Parameters<typeof comparableBytes>[0]),
    );
  return entries.map((entry) => withoutNonce(text(entry))).sort();
};
