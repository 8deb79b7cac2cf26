import { hashKey } from '@tanstack/react-query';
import { useCallback, useEffect, useMemo } from 'react';
import { createStore, type StoreApi, useStore } from 'zustand';
import { useSession } from './session.tsx';

/*
 * What views leave behind for whoever comes back to them: a list with its rows, a draft, a selection.
 * Nothing of it can be read from the service again, so it is not in the query cache.
 */

/** The kind of a thing, and what it belongs to. */
type Key = readonly [kind: string, ...about: unknown[]];

interface Entry {
  readonly kind: string;
  readonly value: unknown;
}

/** For how long things are kept that nobody looks at any more, in ms. */
const keptMs = 5 * 60_000;

const entries = createStore<ReadonlyMap<string, Entry>>(() => new Map());
/** How many views show each entry, by its name. */
const shown = new Map<string, number>();
const expiries = new Map<string, ReturnType<typeof setTimeout>>();

/** Changes a copy of the map, and tells those who look at it. */
const change = (work: (all: Map<string, Entry>) => void): void => {
  const all = new Map(entries.getState());
  work(all);
  entries.setState(all, true);
};

/** Whether something is at work, and so is kept although nobody looks at it. */
const isAtWork = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && 'isAtWork' in value && value.isAtWork === true;

/** Forgets everything, as signing out does. */
export const forgetAll = (): void => change((all) => all.clear());

/** A name for a thing, which is not that of the same thing of another key or person. */
const nameFor = (person: string, [kind, ...about]: Key): string => hashKey([kind, person, ...about]);

/** What was kept, in the name of the person who is signed in. */
export const useKeeper = () => {
  const { key_id, user } = useSession().me;
  const name = key_id ?? user;
  return useMemo(
    () => ({
      get: <Value>(key: Key): Value | undefined =>
        entries.getState().get(nameFor(name, key))?.value as Value | undefined,
      /** Everything of a kind. */
      all: <Value>(kind: string): Value[] =>
        [...entries.getState().values()]
          .filter((entry) => entry.kind === kind)
          .map(({ value }) => value as Value),
      put: (key: Key, value: unknown): void =>
        change((all) => all.set(nameFor(name, key), { kind: key[0], value })),
      /** Whoever comes back finds a new one. */
      forget: (kind: string): void =>
        change((all) => {
          for (const [name, entry] of all) if (entry.kind === kind) all.delete(name);
        }),
    }),
    [name],
  );
};

/** The entry of a key. It goes some minutes after the last view that shows it. */
const useEntry = (key: Key): Entry | undefined => {
  const { me } = useSession();
  const name = nameFor(me.key_id ?? me.user, key);
  useEffect(() => {
    const count = (by: 1 | -1) => shown.set(name, (shown.get(name) ?? 0) + by).get(name);
    clearTimeout(expiries.get(name));
    count(1);
    return () => {
      if (count(-1) !== 0) return;
      shown.delete(name);
      const expire = () => {
        if (isAtWork(entries.getState().get(name)?.value)) {
          expiries.set(name, setTimeout(expire, keptMs));
          return;
        }
        expiries.delete(name);
        change((all) => all.delete(name));
      };
      expiries.set(name, setTimeout(expire, keptMs));
    };
  }, [name]);
  return useStore(entries, (all) => all.get(name));
};

/**
 * A state that outlives its view for some minutes.
 *
 * @param kind its name
 * @param about what it belongs to
 */
export const useKept = <Value>(
  kind: string,
  about: string,
  first: Value,
): readonly [Value, (next: Value) => void] => {
  const { put } = useKeeper();
  const entry = useEntry([kind, about]);
  const keep = useCallback((next: Value) => put([kind, about], next), [put, kind, about]);
  return [entry ? (entry.value as Value) : first, keep];
};

interface WithStore {
  readonly store: Pick<StoreApi<unknown>, 'getState' | 'getInitialState' | 'subscribe'>;
}

/**
 * An object with a store that outlives its view for some minutes.
 *
 * @returns the object, what its store holds, and what puts another in its place
 */
export const useKeptStore = <Kept extends WithStore>(key: Key, make: () => Kept) => {
  const { get, put } = useKeeper();
  // While rendering, so that there is one from the start. No other view shows it yet, so none is told.
  if (get(key) === undefined) put(key, make());
  const kept = useEntry(key)?.value as Kept;
  return { kept, state: useStore<Kept['store']>(kept.store), replace: (next: Kept) => put(key, next) };
};
