import { valueAt } from '../../../foundations/expression/index.ts';
import {
  chunked,
  mapConcurrent,
  type RequestBudget,
  type Store,
} from '../../../foundations/storage/index.ts';
import type { AnyIndexRange } from '../../../foundations/storage/tables.ts';
import { invalid, type JsonValue, type ProjectId, parseJson } from '../../../foundations/wire/index.ts';
import { type CallHeader, PayloadReader, traceRange } from '../../records/calls/index.ts';
import { type ComputeCosts, Figures } from './figures.ts';
import { bothLevels, type TotalsPlan } from './plan.ts';
import { joinParts, projectRanges, scanParts } from './scan.ts';

/** The most traces that are read one by one, if the span can be read instead. */
const maxByIndex = 200;
/** How many traces, or ranges of a project, are read at once. */
const concurrency = 16;
/** Rows to ask for at first of one trace: most are smaller. */
const traceRows = 256;
/** How many payloads are read together for the usage that is in them. */
const payloadsAtOnce = 100;
/** The most traces that are held: some 200 MB. */
const maxTraces = 1_000_000;

const tooMany = invalid({
  loc: ['body', 'include_trace_totals'],
  msg: `there are more than ${maxTraces} traces to add up: ask for a shorter range of started_at`,
  type: 'too_long',
});

/** Where the figures of one query come from. */
interface Source {
  readonly store: Store;
  readonly projectId: ProjectId;
  readonly plan: TotalsPlan;
  readonly costs: () => Promise<ComputeCosts>;
  readonly budget: RequestBudget;
}

/**
 * Adds up traces for one query, each at most once. Few are read by their index. If there are more, all
 * calls of the span are read.
 */
export class TraceReader {
  /** Calls whose payloads were read. */
  hydrated = 0;
  readonly #source: Source;
  readonly #payloads: PayloadReader;
  readonly #byIndex = new Map<string, Promise<Figures>>();
  #scanned: Promise<ReadonlyMap<string, Figures>> | undefined;

  constructor(source: Source) {
    this.#source = source;
    this.#payloads = new PayloadReader(source.store, source.projectId, source.budget);
  }

  /**
   * The figures of some traces.
   *
   * @throws ServiceError 503 when storage does not give something in time; 422 when there are too many
   * traces
   */
  async read(traceIds: ReadonlySet<string>): Promise<ReadonlyMap<string, Figures>> {
    const { store, projectId, plan } = this.#source;
    const unread = [...traceIds].filter((id) => !this.#byIndex.has(id));
    if (plan.scans && this.#byIndex.size + unread.length > maxByIndex)
      this.#scanned ??= held(this.#addUp(projectRanges(store, projectId, bothLevels, plan.span), null));
    if (this.#scanned) return this.#scanned;
    const found = await mapConcurrent([...traceIds], concurrency, async (id) => {
      const figures = this.#byIndex.get(id) ?? held(this.#readTrace(id));
      this.#byIndex.set(id, figures);
      return [id, await figures] as const;
    });
    return new Map(found);
  }

  async #readTrace(id: string): Promise<Figures> {
    const { projectId, plan } = this.#source;
    const figures = await this.#addUp([traceRange(projectId, id, plan.span)], traceRows);
    return figures.get(id) ?? new Figures();
  }

  /** Adds up all calls of some ranges, by trace. A call's start and end are in one range. */
  async #addUp(
    ranges: readonly AnyIndexRange<'calls'>[],
    firstPage: number | null,
  ): Promise<ReadonlyMap<string, Figures>> {
    const { store, projectId, costs, budget } = this.#source;
    const computeCosts = await costs();
    const traces = new Map<string, Figures>();
    const add = (call: CallHeader, usage: JsonValue): void => {
      const { traceId } = call.start;
      const known = traces.get(traceId);
      if (!known && traces.size === maxTraces) throw tooMany;
      const figures = known ?? new Figures();
      if (!known) traces.set(traceId, figures);
      figures.add(call, usage, computeCosts);
    };
    await mapConcurrent(ranges, concurrency, async (range) => {
      const rows = scanParts(
        store,
        projectId,
        [range],
        { descending: false, firstPage, ahead: true },
        budget,
      );
      for await (const calls of joinParts(store, projectId, rows, budget)) {
        const apart: CallHeader[] = [];
        for (const call of calls) {
          const usage = call.end?.usage ?? null;
          if (usage === true) apart.push(call);
          else add(call, usage);
        }
        for (const some of chunked(apart, payloadsAtOnce)) {
          const read = await this.#payloads.read(some);
          this.hydrated += read.length;
          for (const { header, payload } of read)
            add(header, valueAt(parseJson(payload.summary) as JsonValue, ['usage']) ?? null);
        }
      }
    });
    return traces;
  }
}

/** The same promise. Whoever awaits it sees its failure; until then it must not count as unhandled. */
const held = <T>(promise: Promise<T>): Promise<T> => {
  promise.catch(() => {});
  return promise;
};
