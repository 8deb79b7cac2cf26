import type { Expression, FieldPath } from '../../../foundations/expression/index.ts';
import { fewerDays, type RequestBudget, type Store, type Table } from '../../../foundations/storage/index.ts';
import type { Micros, ProjectId } from '../../../foundations/wire/index.ts';
import { headerAttributeAt, type TimeBounds } from '../../records/calls/index.ts';
import { getFewestDays, type NotedRetention, recallRetention } from '../../records/projects.ts';
import { finishedAt, type Hour, hourMicros, hourMs, readMarks, toHour } from '../../records/rollups.ts';
import {
  GroupMaker,
  groupTest,
  hashesOf,
  readTexts,
  storeTexts,
  type TextGroup,
  type TextHour,
  type TextTest,
} from '../../records/texts.ts';
import type { QueriedCall } from './queried-call.ts';

/*
 * Searches by what is known of the texts of finished hours: which of them cannot hold what is looked for.
 */

/** The columns whose texts are known, in payloads, and those that a query may have replaced. */
const payloadColumns = ['attributes', 'inputs', 'output', 'exception'] as const;

/** Whether all that a path can lead to is among the texts that are known of a call. */
const isKnown = ({ text, field }: FieldPath, expanded: readonly FieldPath[]): boolean => {
  if (text === 'op_name') return true;
  // The service answers some attributes otherwise than they were reported.
  if (headerAttributeAt(text)) return false;
  const isPayload = payloadColumns.some((column) => column === field);
  return isPayload && !expanded.some((path) => path.field === field);
};

const some = (tests: readonly (TextTest | undefined)[]): TextTest[] => tests.filter((test) => !!test);

/**
 * What the texts of a call have to have for expressions that must all hold.
 *
 * @param expanded the paths whose refs are replaced
 * @returns undefined if they ask for no text, or for one of which nothing is known
 */
export const toTextTest = (
  expressions: readonly Expression[],
  expanded: readonly FieldPath[],
): TextTest | undefined => {
  const toTest = (expression: Expression): TextTest | undefined => {
    if (expression.kind === 'and') return toTextTest(expression.operands, expanded);
    if (expression.kind === 'or') {
      const of = expression.operands.map(toTest);
      // One that nothing is known of may hold for any call.
      return of.length > 0 && of.every((test) => test) ? { kind: 'any', of: some(of) } : undefined;
    }
    if (expression.kind !== 'contains') return undefined;
    const { input, substr } = expression;
    const sought = input.kind === 'convert' && input.to === 'string' ? input.input : input;
    if (sought.kind !== 'field' || !isKnown(sought.path, expanded)) return undefined;
    if (substr.kind !== 'literal' || typeof substr.value !== 'string') return undefined;
    const hashes = hashesOf(substr.value);
    return hashes.length > 0 ? { kind: 'hashes', hashes } : undefined;
  };
  const of = some(expressions.map(toTest));
  return of.length > 0 ? { kind: 'all', of } : undefined;
};

/** What a search left out. */
export interface TextCounts {
  /** Groups of calls of which was known what they hold. */
  groups: number;
  /** Those that were not looked at. */
  leftOut: number;
  /** Hours whose texts were noted for the next search. */
  noted: number;
}

/** A span of time in which calls are looked for. */
export interface TextSpan extends TimeBounds {
  /** Whether nothing is known of it, so that it is worth noting what it has. */
  readonly isNew: boolean;
  /** Whether calls of a time may have the text. */
  readonly mayHave: (startedAt: Micros) => boolean;
}

/** What a search knows, and what it works on. */
export interface TextReading {
  readonly store: Store;
  readonly table: Table;
  readonly projectId: ProjectId;
  readonly test: TextTest;
  readonly bounds: TimeBounds;
  readonly descending: boolean;
  readonly counts: TextCounts;
}

/** Calls that lie between two groups are read with them if they are few: another range costs as much. */
const callsBetween = 64;
/** Hours are stored, so many at once. */
const hoursAtOnce = 64;
/** How long storing them may take, in milliseconds. The answer waits for it. */
const storeMs = 3000;
/** Calls that are read only to note what they have: so many, and as many as the search reads itself. */
const readBeside = 256;

const earliest = toHour(-Number.MAX_SAFE_INTEGER);
const latest = toHour(Number.MAX_SAFE_INTEGER);

/** A search for a text, and what it notes on its way. */
export class TextSearch {
  readonly #reading: TextReading;
  readonly #budget: RequestBudget;
  /** When it began, before anything was read. */
  readonly #begun = Date.now();
  #marks: ReadonlyMap<Hour, number> = new Map();
  #retention: NotedRetention | undefined;
  #maker: GroupMaker | undefined;
  #hour: Hour = Number.NaN;
  /** The hours of the present span that were read to their ends, and those around that can be noted. */
  #made: { readonly hour: Hour; readonly groups: readonly TextGroup[] }[] = [];
  #span: TimeBounds = {};
  #ready: TextHour[] = [];
  /** Hours with a call that was not read. */
  readonly #spoiled = new Set<Hour>();
  #passing = 0;
  #beside = 0;
  #gaveUp = false;

  constructor(reading: TextReading, budget: RequestBudget) {
    this.#reading = reading;
    this.#budget = budget;
  }

  /**
   * The spans of time in which calls may be that are looked for, in the order of the search.
   *
   * @throws ServiceError 503 when storage does not answer in time
   */
  async *spans(): AsyncGenerator<TextSpan> {
    const { table, projectId, bounds, descending, test, counts } = this.#reading;
    const first = bounds.from === undefined ? earliest : toHour(bounds.from);
    const last = bounds.to === undefined ? latest : toHour(bounds.to);
    [this.#marks, this.#retention] = await Promise.all([
      readMarks(table, projectId, first, last, this.#budget),
      recallRetention(table, projectId, this.#budget),
    ]);
    const mayHave = groupTest(test);
    let from = bounds.from ?? Number.NEGATIVE_INFINITY;
    let to = bounds.to ?? Number.POSITIVE_INFINITY;
    let found: TextGroup[] = [];
    let between = 0;
    const flush = (): TextSpan[] => {
      const groups = descending ? found.toReversed() : found;
      found = [];
      between = 0;
      return groups.length > 0 ? [ofGroups(groups, bounds)] : [];
    };
    for await (const hours of readTexts(table, projectId, [first, last], descending, this.#budget)) {
      for (const hour of hours) {
        if (hour.mark !== this.#markIn(hour.from, hour.to)) continue;
        const start = hour.from * hourMicros;
        const end = (hour.to + 1) * hourMicros - 1;
        if (end < from || start > to) continue;
        if (descending ? end < to : start > from) {
          yield* flush();
          yield unknown(descending ? { from: end + 1, to } : { from, to: start - 1 });
        }
        for (const group of descending ? hour.groups.toReversed() : hour.groups) {
          if (group.to < from || group.from > to) continue;
          counts.groups++;
          if (!mayHave(group)) {
            counts.leftOut++;
            between += group.calls;
            continue;
          }
          if (between > callsBetween) yield* flush();
          found.push(group);
          between = 0;
        }
        if (descending) to = start - 1;
        else from = end + 1;
      }
      yield* flush();
    }
    if (from <= to) yield unknown({ from, to });
  }

  /** Begins a span of which nothing is known. */
  begin(span: TimeBounds): void {
    this.#span = span;
    this.#made = [];
    this.#maker = undefined;
    this.#hour = Number.NaN;
  }

  /**
   * The calls of a span that are to be read: those that pass, and as long as they are few, others whose hours can
   * be noted.
   */
  choose(rows: readonly QueriedCall[], passes: (row: QueriedCall) => boolean): readonly QueriedCall[] {
    const passing = rows.filter(passes);
    if (this.#gaveUp || passing.length === rows.length) return passing;
    const isPassing = new Set(passing);
    const chosen = rows.filter(
      (row) => isPassing.has(row) || this.#canNote(toHour(row.header.start.startedAt)),
    );
    this.#passing += passing.length;
    this.#beside += chosen.length - passing.length;
    this.#gaveUp = this.#beside > this.#passing + readBeside;
    return this.#gaveUp ? passing : chosen;
  }

  /** Takes the calls of a span, all of them and in its order. */
  async take(rows: readonly QueriedCall[]): Promise<void> {
    if (this.#gaveUp) return;
    for (const { found, header, payload } of rows) {
      const { startedAt } = found.start;
      const hour = toHour(startedAt);
      if (hour !== this.#hour) {
        this.#close();
        this.#hour = hour;
        this.#maker = this.#canNote(hour) ? new GroupMaker() : undefined;
      }
      if (!payload) {
        this.#maker = undefined;
        this.#spoiled.add(hour);
        continue;
      }
      const texts = payloadColumns.map((column) => payload[column]);
      this.#maker?.add(startedAt, [...texts, JSON.stringify(header.start.opName)]);
    }
    if (this.#made.length > hoursAtOnce) {
      this.#ready.push(...this.#withEmpty(false));
      await this.save();
    }
  }

  /** Ends a span that was read to its end. */
  async end(): Promise<void> {
    if (this.#gaveUp) return;
    this.#close();
    this.#ready.push(...this.#withEmpty(true));
    if (this.#ready.length > hoursAtOnce) await this.save();
  }

  /** Notes what was read of finished hours, for the next search. Nobody learns if that fails. */
  async save(): Promise<void> {
    const { table, projectId, counts } = this.#reading;
    this.#ready.push(...this.#withEmpty(false));
    const ready = this.#ready;
    this.#ready = [];
    if (ready.length === 0) return;
    const spent = { ...this.#budget, deadline: Math.min(this.#budget.deadline, Date.now() + storeMs) };
    try {
      await storeTexts(table, projectId, ready, (hour) => this.#getDays(hour), spent);
      counts.noted += ready.length;
    } catch {
      // The answer is whole without it.
    }
  }

  #close(): void {
    if (this.#maker) this.#made.push({ hour: this.#hour, groups: this.#maker.finish() });
    this.#maker = undefined;
  }

  /**
   * The hours that were read to their ends, with those around them that have no calls.
   *
   * @param isWhole whether the span was read to its end
   */
  #withEmpty(isWhole: boolean): TextHour[] {
    const { descending } = this.#reading;
    const made = this.#made.sort((a, b) => a.hour - b.hour);
    this.#made = [];
    const texts: TextHour[] = [];
    const hasStart = isBound(this.#span.from);
    for (const [i, { hour, groups }] of made.entries()) {
      // What lies behind the last hour that was read is not known yet.
      const before = texts.at(-1)?.to ?? (isWhole || !descending ? earliest : hour - 1);
      const after = made[i + 1]?.hour ?? (isWhole || descending ? latest : hour + 1);
      let from = hour;
      if (texts.length === 0) while (from - 1 > before && hasStart && this.#canNote(from - 1)) from--;
      let to = hour;
      while (to + 1 < after && this.#canNote(to + 1)) to++;
      texts.push({ hour, from, to, mark: this.#markIn(from, to), groups });
    }
    const edge = descending ? texts[0] : texts.at(-1);
    // What is read from here on is beside it.
    if (edge) this.#span = { ...this.#span, [descending ? 'to' : 'from']: toEdge(edge, descending) };
    return texts;
  }

  /** Whether an hour lies whole in the span, and can no more change without a mark. */
  #canNote(hour: Hour): boolean {
    const { from = Number.NEGATIVE_INFINITY, to = Number.POSITIVE_INFINITY } = this.#span;
    if (this.#spoiled.has(hour)) return false;
    if (hour * hourMicros < from || (hour + 1) * hourMicros - 1 > to) return false;
    return finishedAt(hour) <= this.#begun && (this.#marks.get(hour) ?? 0) <= this.#begun;
  }

  /** The latest mark of hours from one to another; 0 for none. */
  #markIn(from: Hour, to: Hour): number {
    let mark = 0;
    if (to - from > this.#marks.size) {
      for (const [hour, value] of this.#marks) if (hour >= from && hour <= to) mark = Math.max(mark, value);
    } else for (let hour = from; hour <= to; hour++) mark = Math.max(mark, this.#marks.get(hour) ?? 0);
    return mark;
  }

  /** The fewest days after which calls of an hour expire. */
  #getDays(hour: Hour): number | undefined {
    return fewerDays(this.#reading.store.retentionDays, getFewestDays(this.#retention, hour * hourMs));
  }
}

const toEdge = ({ from, to }: TextHour, descending: boolean): Micros =>
  descending ? from * hourMicros - 1 : (to + 1) * hourMicros;

const isBound = (time: Micros | undefined): time is Micros => time !== undefined && Number.isFinite(time);

const toBounds = ({ from, to }: TimeBounds): TimeBounds => ({
  ...(isBound(from) && { from }),
  ...(isBound(to) && { to }),
});

const unknown = (bounds: TimeBounds): TextSpan => ({ ...toBounds(bounds), isNew: true, mayHave: () => true });

/** The span of groups, which are in order of time. Calls between them are not looked at. */
const ofGroups = (groups: readonly TextGroup[], bounds: TimeBounds): TextSpan => {
  const from = Math.max(groups[0]?.from ?? 0, bounds.from ?? Number.NEGATIVE_INFINITY);
  const to = Math.min(groups.at(-1)?.to ?? 0, bounds.to ?? Number.POSITIVE_INFINITY);
  const mayHave = (startedAt: Micros): boolean => {
    let low = 0;
    let high = groups.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((groups[middle]?.to ?? 0) < startedAt) low = middle + 1;
      else high = middle;
    }
    return (groups[low]?.from ?? Number.POSITIVE_INFINITY) <= startedAt;
  };
  return { from, to, isNew: false, mayHave };
};
