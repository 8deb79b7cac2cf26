import { getWait } from '../../api/calls.ts';
import type { Member, PartKey } from '../../calls/trace/parts.ts';
import type { TreeNode } from '../../calls/trace/tree.ts';

/*
 * A trace over time: which bar is in which row of which lane, what of it is in sight, what the trace waited
 * for, and what of it decided how long it took. All times are in ms since 1970.
 */

/** A stretch of time. */
export interface Stretch {
  readonly start: number;
  readonly end: number;
}

/** A call as a bar. */
export interface Bar extends Stretch {
  readonly node: TreeNode;
  readonly isError: boolean;
  /** When it waited for a person; undefined if it did not, or does not say for how long. */
  readonly wait: Stretch | undefined;
}

/** The calls of an agent. Those that overlap are in rows below each other, the one above first. */
export interface Lane {
  readonly agent: PartKey;
  /** Each by start; bars of a row do not overlap. */
  readonly rows: readonly (readonly Bar[])[];
  readonly calls: number;
}

/** The time of a call that no child covers, as stretches. */
const gapsOf = ({ start, end, children }: TreeNode): Stretch[] => {
  const gaps: Stretch[] = [];
  let at = start;
  for (const child of [...children].sort((a, b) => a.start - b.start)) {
    if (child.start > at) gaps.push({ start: at, end: Math.min(child.start, end) });
    at = Math.max(at, child.end);
  }
  if (end > at) gaps.push({ start: at, end });
  return gaps;
};

/**
 * When a call waited for a person. Telemetry says for how long: it is taken to be in the longest stretch in which
 * nothing below it ran, from its beginning.
 */
export const waitOf = (node: TreeNode): Stretch | undefined => {
  const waited = getWait(node.call);
  if (waited === undefined) return undefined;
  const length = ({ start, end }: Stretch) => end - start;
  const [longest = node] = gapsOf(node).sort((a, b) => length(b) - length(a));
  const { start, end } = longest;
  if (waited === true) return { start, end };
  return { start, end: Math.min(Math.max(end, start), start + waited) };
};

/** A row of a lane while it is filled. */
interface Row {
  readonly bars: Bar[];
  last: Stretch;
}

const hasRoom = ({ last }: Row, { start }: Stretch): boolean => start >= last.end && start > last.start;

/**
 * The lanes of a trace, in the order in which agents began. A call is below those of its lane that it is nested
 * in, in the first row that has room.
 */
export const toLanes = (members: readonly Member[]): Lane[] => {
  const lanes = new Map<PartKey, Row[]>();
  const places = new Map<Member, number>();
  const counts = new Map<PartKey, number>();
  const byStart = members
    .map((member, at) => ({ member, at }))
    .sort((a, b) => a.member.node.start - b.member.node.start || a.at - b.at);
  for (const { member } of byStart) {
    const { node, agent } = member;
    const rows = lanes.get(agent) ?? [];
    lanes.set(agent, rows);
    counts.set(agent, (counts.get(agent) ?? 0) + 1);
    let above = member.parent;
    while (above && above.agent !== agent) above = above.parent;
    let place = above ? (places.get(above) ?? -1) + 1 : 0;
    const { start } = node;
    const end = Math.max(node.end, start);
    const bar = { node, isError: node.isError, start, end, wait: waitOf(node) };
    for (let row = rows[place]; row && !hasRoom(row, bar); row = rows[place]) place++;
    const row = rows[place];
    if (row) row.bars.push(bar);
    if (row) row.last = bar;
    else rows[place] = { bars: [bar], last: bar };
    places.set(member, place);
  }
  return [...lanes].map(([agent, rows]) => ({
    agent,
    rows: rows.map(({ bars }) => bars),
    calls: counts.get(agent) ?? 0,
  }));
};

/** A stretch of the critical path, with the call that ran. */
export interface CriticalStretch extends Stretch {
  readonly id: string;
}

/**
 * The critical path: the calls that a trace waited for, one after the other, without recursion. From the end of a
 * call back, it is its child that ended last before, and the call itself where none ran. What ended while another
 * one on the path still ran decided nothing.
 */
export const toCriticalPath = (forest: readonly TreeNode[]): CriticalStretch[] => {
  const path: CriticalStretch[] = [];
  const waiting: (Stretch & { readonly id: string | undefined; readonly below: readonly TreeNode[] })[] = [];
  const first = Math.min(...forest.map(({ start }) => start));
  const last = Math.max(...forest.map(({ end }) => end));
  if (forest.length > 0) waiting.push({ id: undefined, below: forest, start: first, end: last });
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const { id, below, start, end } = next;
    let at = end;
    const own = (from: number) => {
      if (id !== undefined && from < at) path.push({ id, start: from, end: at });
    };
    for (const child of [...below].sort((a, b) => b.end - a.end)) {
      // The last one may go on after the call above it has ended.
      const until = at === end ? Math.min(child.end, at) : child.end;
      const from = Math.max(child.start, start);
      if (until > at || from >= until) continue;
      own(until);
      waiting.push({ id: child.call.id, below: child.children, start: from, end: until });
      at = from;
    }
    own(start);
  }
  return path.sort((a, b) => a.start - b.start);
};

/** How close one may look, in ms. */
export const leastSpan = 1;

const fitted = (start: number, length: number, whole: Stretch): Stretch => {
  const all = Math.max(whole.end - whole.start, leastSpan);
  const shown = Math.min(Math.max(length, leastSpan), all);
  const from = Math.min(Math.max(start, whole.start), whole.start + all - shown);
  return { start: from, end: from + shown };
};

/** A window as it may be: within the whole, and a millisecond at least. */
export const fitWindow = ({ start, end }: Stretch, whole: Stretch): Stretch =>
  fitted(start, end - start, whole);

/** Looks closer, by a factor below 1, or from farther away. The moment stays where it is. */
export const zoomed = (window: Stretch, factor: number, moment: number, whole: Stretch): Stretch => {
  const before = window.end - window.start;
  const length = Math.min(Math.max(before * factor, leastSpan), Math.max(whole.end - whole.start, leastSpan));
  return fitted(moment - ((moment - window.start) * length) / before, length, whole);
};

/** Goes along, by a share of what is in sight. */
export const panned = (window: Stretch, share: number, whole: Stretch): Stretch => {
  const length = window.end - window.start;
  return fitted(window.start + share * length, length, whole);
};

/** The window in which a bar is seen: the same, if it is in it already. */
export const revealed = (window: Stretch, { start, end }: Stretch, whole: Stretch): Stretch => {
  const length = window.end - window.start;
  if (start < window.end && end > window.start) return window;
  if (start >= window.start && end <= window.end) return window;
  return fitted((start + end) / 2 - length / 2, length, whole);
};

/** A window of this many ms and more is told in whole ones, any other to the microsecond. */
const tellWholeFrom = 1000;

const edgeText = (ms: number, length: number): string => {
  const parts = length < tellWholeFrom ? 1000 : 1;
  return String(Math.round(ms * parts) / parts);
};

/** A window as the URL has it, in ms from the start: `12.5-13.2`. Undefined for the whole. */
export const windowText = (window: Stretch, whole: Stretch): string | undefined => {
  const { start, end } = fitWindow(window, whole);
  const length = end - start;
  if (length >= whole.end - whole.start) return undefined;
  return `${edgeText(start - whole.start, length)}-${edgeText(end - whole.start, length)}`;
};

/** The window that a URL tells. @param text as {@link windowText} writes it */
export const readWindow = (text: string | undefined, whole: Stretch): Stretch | undefined => {
  if (text === undefined) return undefined;
  const [from = 0, to = 0] = text.split('-').map(Number);
  return { start: whole.start + from, end: whole.start + to };
};

/** What has a place in a row. */
interface Placed extends Stretch {
  readonly isError?: boolean;
}

/** What is drawn: a bar, or several that are too narrow to be told apart. In pixels. */
export interface Drawn<Of> {
  readonly x: number;
  readonly width: number;
  /** The first of them. */
  readonly bar: Of;
  readonly count: number;
  readonly isError: boolean;
}

/** The place of the first bar that ends at a moment or later: bars of a row end in the order in which they start. */
const firstAfter = (bars: readonly Stretch[], moment: number): number => {
  let low = 0;
  let high = bars.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((bars[middle]?.end ?? 0) < moment) low = middle + 1;
    else high = middle;
  }
  return low;
};

/** What of a row is in sight. Bars narrower than a pixel that touch are one. @param width of the window, in pixels */
export const toDrawn = <Of extends Placed>(
  bars: readonly Of[],
  window: Stretch,
  width: number,
): Drawn<Of>[] => {
  const scale = width / (window.end - window.start);
  const drawn: Drawn<Of>[] = [];
  let last: { x: number; width: number; bar: Of; count: number; isError: boolean } | undefined;
  for (let at = firstAfter(bars, window.start); at < bars.length; at++) {
    const bar = bars[at];
    if (!bar || bar.start > window.end) break;
    const { start, end, isError = false } = bar;
    const x = (start - window.start) * scale;
    const length = (end - start) * scale;
    if (last && length < 1 && x <= last.x + last.width) {
      last.width = Math.max(last.width, x + 1 - last.x);
      last.count++;
      last.isError ||= isError;
      continue;
    }
    const next = { x: length < 1 ? Math.floor(x) : x, width: Math.max(length, 1), bar, count: 1, isError };
    drawn.push(next);
    last = length < 1 ? next : undefined;
  }
  return drawn;
};

/** The bar of a row at a moment, or the nearest one within a few ms. @param near how far it may be, in ms */
export const barAt = (bars: readonly Bar[], moment: number, near: number): Bar | undefined => {
  const distance = ({ start, end }: Bar) => Math.max(start - moment, moment - end, 0);
  const at = firstAfter(bars, moment);
  const [closest] = bars
    .slice(Math.max(0, at - 1), at + 2)
    .sort((a, b) => distance(a) - distance(b) || b.start - a.start);
  return closest && distance(closest) <= near ? closest : undefined;
};

const steps = [1, 2, 5] as const;

/** Round moments since a beginning, as far apart as so many fit: multiples of 1, 2 or 5 of a power of ten, or of minutes. */
export const toTicks = (window: Stretch, origin: number, count: number): readonly number[] => {
  const least = (window.end - window.start) / Math.max(1, count);
  const minutes = [15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 43_200, 86_400].map(
    (seconds) => seconds * 1000,
  );
  const power = 10 ** Math.floor(Math.log10(least));
  const decimal = steps.map((step) => step * power).find((step) => step >= least) ?? 10 * power;
  const step = least > 10_000 ? (minutes.find((step) => step >= least) ?? decimal) : decimal;
  const first = Math.ceil((window.start - origin) / step);
  const last = Math.floor((window.end - origin) / step);
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, at) => (first + at) * step);
};
