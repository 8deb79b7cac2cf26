import type { CallPlace, SpanOfTrace } from '../../records/calls/index.ts';

export const isSamePlace = (a: CallPlace, b: CallPlace): boolean =>
  a.threadId === b.threadId && a.turnId === b.turnId && a.userId === b.userId;

/** A place, and whether its thread holds for all below, whatever they name. */
interface Scope extends CallPlace {
  readonly holds: boolean;
}

const nowhere: Scope = { threadId: null, turnId: null, userId: null, holds: false };

/** Spans from the outermost to the innermost, so that each comes behind its parent. */
const outermostFirst = (spans: ReadonlyMap<string, SpanOfTrace>): readonly SpanOfTrace[] => {
  const ordered = new Set<SpanOfTrace>();
  // Spans of a cycle have no outermost one. The first of their ids is it, in whichever order they come.
  const ids = [...spans.keys()].sort();
  for (const id of ids) {
    const chain = new Set<SpanOfTrace>();
    let next = spans.get(id);
    while (next && !ordered.has(next) && !chain.has(next)) {
      chain.add(next);
      next = next.parentId === null ? undefined : spans.get(next.parentId);
    }
    for (const span of [...chain].reverse()) ordered.add(span);
  }
  return [...ordered];
};

/** What the topmost spans that name a thread or a user name, from a span on downwards; two are enough to know. */
interface Named {
  /** Threads of spans that a convention knows. */
  readonly threads: ReadonlySet<string>;
  /** Threads of any spans. */
  readonly sessions: ReadonlySet<string>;
  readonly users: ReadonlySet<string>;
}

const none: ReadonlySet<string> = new Set();
const noNames: Named = { threads: none, sessions: none, users: none };

const union = (a: ReadonlySet<string>, b: ReadonlySet<string>): ReadonlySet<string> => {
  if (a.size > 1 || b.size === 0) return a;
  return a.size === 0 ? b : new Set([...a, ...b]);
};

const only = (names: ReadonlySet<string>): string | null => {
  const [name = null] = names;
  return names.size === 1 ? name : null;
};

/** What is named at each span or below it. */
const namesIn = (ordered: readonly SpanOfTrace[]): ReadonlyMap<string, Named> => {
  const names = new Map<string, Named>();
  for (const { id, parentId, span, userId } of ordered.toReversed()) {
    const below = names.get(id) ?? noNames;
    const thread = span.threadId === null ? undefined : new Set([span.threadId]);
    const own = {
      threads: thread && !span.isPlain ? thread : below.threads,
      sessions: thread ?? below.sessions,
      users: userId === null ? below.users : new Set([userId]),
    };
    names.set(id, own);
    if (parentId === null) continue;
    const { threads, sessions, users } = names.get(parentId) ?? noNames;
    names.set(parentId, {
      threads: union(threads, own.threads),
      sessions: union(sessions, own.sessions),
      users: union(users, own.users),
    });
  }
  return names;
};

/** The thread that is a run's because all in it name the same. */
const threadWithin = ({ threads, sessions }: Named): string | null =>
  threads.size === 0 ? only(sessions) : only(threads);

const toScope = (one: SpanOfTrace, parent: Scope | undefined, names: Named): Scope => {
  const { id, parentId, span } = one;
  const around = parent ?? nowhere;
  const userId = one.userId ?? around.userId ?? (span.isRun ? only(names.users) : null);
  if (around.threadId !== null && around.holds) return { ...around, userId };
  const threadId = span.threadId ?? (span.isRun ? threadWithin(names) : null);
  const holds = threadId !== null && (span.threadId === null || !span.isPlain);
  if (threadId === null || threadId === around.threadId) return { ...around, userId, holds };
  // Parents come later than their children, so one that is not known yet may well be of the same
  // thread. One of another process is not waited for.
  const isTop = parentId === null || parent !== undefined || span.hasRemoteParent;
  return { threadId, turnId: isTop ? id : null, userId, holds };
};

/**
 * Finds where spans belong, whichever order they come in. The topmost session of a trace holds for all
 * below it, and is their turn. The run of an agent or a workflow that names none has that of those in it,
 * if all name the same.
 *
 * @param list all that is known of a trace, or of several in one project
 * @returns the place of each span by its id
 */
export const findPlaces = (list: Iterable<SpanOfTrace>): ReadonlyMap<string, CallPlace> => {
  const spans = new Map(Array.from(list, (span) => [span.id, span]));
  const ordered = outermostFirst(spans);
  const names = namesIn(ordered);
  const scopes = new Map<string, Scope>();
  for (const span of ordered) {
    const parent = span.parentId === null ? undefined : scopes.get(span.parentId);
    scopes.set(span.id, toScope(span, parent, names.get(span.id) ?? noNames));
  }
  return new Map(
    Array.from(scopes, ([id, { threadId, turnId, userId }]) => [id, { threadId, turnId, userId }]),
  );
};
