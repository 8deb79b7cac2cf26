import { type CallHeader, PayloadReader, storageSize, traceRange } from '../calls/index.ts';
import { mapConcurrent, type RequestBudget, type Store } from '../storage/index.ts';
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type Micros,
  type ProjectId,
  type Ref,
  type WireNames,
} from '../wire/index.ts';
import { expandRows } from './expand.ts';
import type { Need } from './fields.ts';
import { joinParts } from './join.ts';
import type { CallsQuery } from './request.ts';
import type { CallRow } from './row.ts';
import { scan } from './scan.ts';

/** What a query asks of others than the calls themselves. */
export interface Lookups {
  /**
   * Makes what tells the costs of a call's usage, by model, at the prices in force when it started.
   */
  readonly costs: (
    projectId: ProjectId,
    budget: RequestBudget,
  ) => Promise<(usage: JsonObject, startedAt: Micros) => JsonObject>;
  /** The feedback on calls, oldest first, by call id; calls without any may be missing. */
  readonly feedback: (
    projectId: ProjectId,
    callIds: readonly string[],
    budget: RequestBudget,
  ) => Promise<ReadonlyMap<string, JsonValue[]>>;
  /** What refs to objects refer to, in their order; undefined for a ref to nothing. */
  readonly objects: (
    refs: readonly Ref[],
    budget: RequestBudget,
  ) => Promise<readonly (JsonValue | undefined)[]>;
}

/** What a query knows nothing of costs nothing, has no feedback and refers to nothing. */
export const noLookups: Lookups = {
  costs: async () => () => ({}),
  feedback: async () => new Map(),
  objects: async (refs) => refs.map(() => undefined),
};

/** How many traces are summed up at once. */
const traceConcurrency = 8;

/** Fetches what is needed of calls beyond their headers, for one query. */
export class Enricher {
  /** Calls whose payloads were read. */
  hydrated = 0;
  readonly #names: WireNames;
  readonly #store: Store;
  readonly #query: Pick<CallsQuery, 'projectId' | 'expand'>;
  readonly #lookups: Lookups;
  readonly #budget: RequestBudget;
  readonly #reader: PayloadReader;
  readonly #sizes = new Map<string, Promise<number>>();
  #costs: ReturnType<Lookups['costs']> | undefined;

  constructor(
    names: WireNames,
    store: Store,
    query: Pick<CallsQuery, 'projectId' | 'expand'>,
    lookups: Lookups,
    budget: RequestBudget,
  ) {
    this.#names = names;
    this.#store = store;
    this.#query = query;
    this.#lookups = lookups;
    this.#budget = budget;
    this.#reader = new PayloadReader(store, query.projectId, budget);
  }

  /**
   * Fetches what is needed and not there yet, in the order of the rows. Calls that are gone by now
   * are left out, and one whose payload rides in its item comes back as it is now.
   */
  async enrich(rows: readonly CallRow[], needs: readonly Need[]): Promise<readonly CallRow[]> {
    let enriched = await this.#withPayloads(rows, needs);
    if (needs.includes('expanded'))
      enriched = await expandRows(this.#names, this.#query.expand, enriched, (refs) =>
        this.#lookups.objects(refs, this.#budget),
      );
    if (needs.includes('costs')) enriched = await this.#withCosts(enriched);
    if (needs.includes('feedback')) enriched = await this.#withFeedback(enriched);
    if (needs.includes('totalSize')) enriched = await this.#withTotals(enriched);
    return enriched;
  }

  async #withPayloads(rows: readonly CallRow[], needs: readonly Need[]): Promise<readonly CallRow[]> {
    const isNeeded = payloadNeeded(needs);
    const wanted = rows.filter(({ header, payload }) => payload === null && isNeeded(header));
    if (wanted.length === 0) return rows;
    const calls = await this.#reader.read(wanted.map(({ header }) => header));
    this.hydrated += calls.length;
    const byId = new Map(calls.map((call) => [call.header.id, call]));
    const asked = new Set(wanted);
    return rows.flatMap((row) => {
      if (!asked.has(row)) return [row];
      const call = byId.get(row.header.id);
      return call ? [row.readAs(call)] : [];
    });
  }

  async #withCosts(rows: readonly CallRow[]): Promise<readonly CallRow[]> {
    if (!rows.some((row) => isJsonObject(row.usage))) return rows;
    this.#costs ??= this.#lookups.costs(this.#query.projectId, this.#budget);
    const costsOf = await this.#costs;
    return rows.map((row) => {
      const { usage } = row;
      return isJsonObject(usage) ? row.with({ costs: costsOf(usage, row.header.start.startedAt) }) : row;
    });
  }

  async #withFeedback(rows: readonly CallRow[]): Promise<readonly CallRow[]> {
    const ids = rows.filter(({ extras }) => !extras.feedback).map(({ header }) => header.id);
    if (ids.length === 0) return rows;
    const found = await this.#lookups.feedback(this.#query.projectId, ids, this.#budget);
    return rows.map((row) =>
      row.extras.feedback ? row : row.with({ feedback: found.get(row.header.id) ?? [] }),
    );
  }

  async #withTotals(rows: readonly CallRow[]): Promise<readonly CallRow[]> {
    return mapConcurrent(rows, traceConcurrency, async (row) =>
      row.with({ totalSize: await this.#totalSize(row.header.start.traceId) }),
    );
  }

  /** The bytes of all calls of a trace, added up once a query. */
  #totalSize(traceId: string): Promise<number> {
    const known = this.#sizes.get(traceId);
    if (known) return known;
    const size = this.#sumTrace(traceId);
    // Whoever awaits it sees its failure; others that would have must not find it unhandled.
    size.catch(() => {});
    this.#sizes.set(traceId, size);
    return size;
  }

  async #sumTrace(traceId: string): Promise<number> {
    const { projectId } = this.#query;
    const options = { descending: false, firstPage: 128, ahead: false };
    const rows = scan(this.#store, projectId, [traceRange(projectId, traceId, {})], options, this.#budget);
    let bytes = 0;
    for await (const calls of joinParts(this.#store, projectId, rows, this.#budget))
      for (const call of calls) bytes += storageSize(call);
    return bytes;
  }
}

/** Whether a call's payload must be read for what is needed. */
const payloadNeeded = (needs: readonly Need[]): ((call: CallHeader) => boolean) => {
  if (needs.includes('payload') || needs.includes('expanded')) return () => true;
  if (needs.includes('usage') || needs.includes('costs')) return ({ end }) => end?.usage === true;
  return () => false;
};
