import { mapConcurrent, type RequestBudget, type Store } from '../../foundations/storage/index.ts';
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type Micros,
  type ProjectId,
  type Ref,
  type WireNames,
} from '../../foundations/wire/index.ts';
import { type CallHeader, PayloadReader, storageSize, traceRange } from '../../records/calls/index.ts';
import { expandRows } from './expand.ts';
import type { Requirement } from './fields.ts';
import { joinParts } from './join.ts';
import type { CallsQuery } from './request.ts';
import type { CallRow } from './row.ts';
import { scanParts } from './scan.ts';

/** What a query asks of other parts of the service. */
export interface Lookups {
  /** Gives the costs of a call's usage, by model, at the prices in force when the call started. */
  readonly costs: (
    projectId: ProjectId,
    budget: RequestBudget,
  ) => Promise<(usage: JsonObject, startedAt: Micros) => JsonObject>;
  /** The feedback on calls by call id, oldest first. Calls without any may be missing. */
  readonly feedback: (
    projectId: ProjectId,
    callIds: readonly string[],
    budget: RequestBudget,
  ) => Promise<ReadonlyMap<string, JsonValue[]>>;
  /** What refs lead to, in their order; undefined for a ref to nothing. */
  readonly objects: (
    refs: readonly Ref[],
    budget: RequestBudget,
  ) => Promise<readonly (JsonValue | undefined)[]>;
}

/** No costs, no feedback, and refs to nothing. */
export const noLookups: Lookups = {
  costs: async () => () => ({}),
  feedback: async () => new Map(),
  objects: async (refs) => refs.map(() => undefined),
};

/** How many traces are summed up at once. */
const traceConcurrency = 8;

/** Fetches what one query requires of calls beyond their headers. */
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
   * Fetches what is required and not there yet, in the order of the rows. Calls that are gone by
   * now are left out. A call whose payload is in its item comes back as it is now.
   *
   * @throws ServiceError 503 when storage does not give something in time
   */
  async enrich(rows: readonly CallRow[], requirements: readonly Requirement[]): Promise<readonly CallRow[]> {
    let enriched = await this.#withPayloads(rows, requirements);
    if (requirements.includes('expanded'))
      enriched = await expandRows(this.#names, this.#query.expand, enriched, (refs) =>
        this.#lookups.objects(refs, this.#budget),
      );
    if (requirements.includes('costs')) enriched = await this.#withCosts(enriched);
    if (requirements.includes('feedback')) enriched = await this.#withFeedback(enriched);
    if (requirements.includes('totalSize')) enriched = await this.#withTotals(enriched);
    return enriched;
  }

  async #withPayloads(
    rows: readonly CallRow[],
    requirements: readonly Requirement[],
  ): Promise<readonly CallRow[]> {
    const isRequired = requiresPayload(requirements);
    const wanted = rows.filter(({ header, payload }) => payload === null && isRequired(header));
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

  /** The bytes of all calls of a trace, added up once per query. */
  #totalSize(traceId: string): Promise<number> {
    const known = this.#sizes.get(traceId);
    if (known) return known;
    const size = this.#sumTrace(traceId);
    // Whoever awaits it sees its failure. Until then it must not count as unhandled.
    size.catch(() => {});
    this.#sizes.set(traceId, size);
    return size;
  }

  async #sumTrace(traceId: string): Promise<number> {
    const { projectId } = this.#query;
    const options = { descending: false, firstPage: 128 };
    const rows = scanParts(
      this.#store,
      projectId,
      [traceRange(projectId, traceId, {})],
      options,
      this.#budget,
    );
    let bytes = 0;
    for await (const calls of joinParts(this.#store, projectId, rows, this.#budget))
      for (const call of calls) bytes += storageSize(call);
    return bytes;
  }
}

/** Makes the test whether a call's payload must be read. */
const requiresPayload = (requirements: readonly Requirement[]): ((call: CallHeader) => boolean) => {
  if (requirements.includes('payload') || requirements.includes('expanded')) return () => true;
  if (requirements.includes('usage') || requirements.includes('costs'))
    return ({ end }) => end?.usage === true;
  return () => false;
};
