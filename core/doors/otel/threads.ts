/** What decides a span's thread and turn. */
export interface Threaded {
  /** What tells the span from all others of the request. */
  readonly key: string;
  /** The key of its parent, in the request or not; undefined for a root. */
  readonly parent: string | undefined;
  readonly hasRemoteParent: boolean;
  /** The thread that the span itself names. */
  readonly threadId: string | undefined;
}

/** The thread and the turn of a span. */
export interface ThreadAndTurn {
  readonly threadId: string | null;
  /** The key of the span that is its turn; null if the request does not show which it is. */
  readonly turn: string | null;
}

const noThread: ThreadAndTurn = { threadId: null, turn: null };

/** The spans from one up to the first whose thread is known, or that has no parent here. */
const chainFrom = (
  span: Threaded,
  spans: ReadonlyMap<string, Threaded>,
  threads: ReadonlyMap<string, ThreadAndTurn>,
): Threaded[] => {
  const chain = new Map<string, Threaded>();
  for (
    let next: Threaded | undefined = span;
    next && !chain.has(next.key) && !threads.has(next.key);
    next = next.parent === undefined ? undefined : spans.get(next.parent)
  )
    chain.set(next.key, next);
  return [...chain.values()];
};

/**
 * Whether the topmost span of a thread that the request shows is its turn. Parents come later than
 * their children, so a parent that is not here may well be of the same thread. One of another
 * process is not waited for.
 */
const isTop = (span: Threaded, parent: ThreadAndTurn | undefined): boolean =>
  span.parent === undefined || parent !== undefined || span.hasRemoteParent;

const threadOf = (span: Threaded, parent: ThreadAndTurn | undefined): ThreadAndTurn => {
  const threadId = span.threadId ?? parent?.threadId ?? null;
  if (threadId === null) return noThread;
  if (parent?.threadId === threadId) return parent;
  return { threadId, turn: isTop(span, parent) ? span.key : null };
};

/**
 * Finds the threads of a request's spans. A span without a thread of its own is in its parent's.
 * The turn is the topmost span of an unbroken line in the same thread.
 *
 * @returns the thread and turn of each span by its key
 */
export const threadsOf = (list: readonly Threaded[]): ReadonlyMap<string, ThreadAndTurn> => {
  const spans = new Map(list.map((span) => [span.key, span]));
  const threads = new Map<string, ThreadAndTurn>();
  for (const span of spans.values()) {
    for (const each of chainFrom(span, spans, threads).toReversed())
      threads.set(each.key, threadOf(each, each.parent === undefined ? undefined : threads.get(each.parent)));
  }
  return threads;
};
