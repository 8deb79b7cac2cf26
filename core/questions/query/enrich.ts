import type { CallsQuery } from '../../../api/queries.ts';
import { headerAttributes } from '../../../api/shared/header-fields.ts';
import { type FieldPath, keysTo, valueAt } from '../../../foundations/expression/index.ts';
import { mapConcurrent, type RequestBudget, type Store } from '../../../foundations/storage/index.ts';
import {
  copyJson,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type Micros,
  type ProjectId,
  parseJson,
  parseRef,
  type Ref,
} from '../../../foundations/wire/index.ts';
import {
  type CallHeader,
  isPayloadColumn,
  type PayloadField,
  PayloadReader,
  storageSize,
  traceRange,
} from '../../records/calls/index.ts';
import type { Requirement } from './fields.ts';
import { Figures } from './figures.ts';
import type { TotalsPlan } from './plan.ts';
import type { QueriedCall } from './queried-call.ts';
import { joinParts, scanParts } from './scan.ts';
import { TraceReader } from './trace-totals.ts';

/** Gives the costs of a call's usage, by model, at the prices in force when the call started. */
interface LookedUpCosts {
  (usage: JsonObject, startedAt: Micros): JsonObject;
  /** The same for the same prices, and for no others. @default - not known */
  readonly version?: string;
}

/** What a query asks of other parts of the service. */
export interface Lookups {
  readonly costs: (projectId: ProjectId, budget: RequestBudget) => Promise<LookedUpCosts>;
  /** Gives the feedback on calls by call id, oldest first. Calls without any may be missing. */
  readonly feedback: (
    projectId: ProjectId,
    budget: RequestBudget,
  ) => { readonly on: (callIds: readonly string[]) => Promise<ReadonlyMap<string, JsonValue[]>> };
  /** What refs lead to, in their order; undefined for a ref to nothing. */
  readonly objects: (
    refs: readonly Ref[],
    budget: RequestBudget,
  ) => Promise<readonly (JsonValue | undefined)[]>;
}

/** No costs, no feedback, and refs to nothing. */
export const noLookups: Lookups = {
  costs: async () => () => ({}),
  feedback: () => ({ on: async () => new Map() }),
  objects: async (refs) => refs.map(() => undefined),
};

/** How many traces are summed up at once. */
const traceConcurrency = 8;

/** Fetches what one query requires of calls beyond their headers. */
export class Enricher {
  #hydrated = 0;
  readonly #store: Store;
  readonly #query: Pick<CallsQuery, 'projectId' | 'expand'>;
  readonly #lookups: Lookups;
  readonly #budget: RequestBudget;
  readonly #reader: PayloadReader;
  readonly #sizes = new Map<string, Promise<number>>();
  readonly #traces: TraceReader | null;
  #costs: ReturnType<Lookups['costs']> | undefined;
  #feedback: ReturnType<Lookups['feedback']> | undefined;

  /** @param totals how traces are added up, if the query asks for that */
  constructor(
    store: Store,
    query: Pick<CallsQuery, 'projectId' | 'expand'>,
    lookups: Lookups,
    budget: RequestBudget,
    totals: TotalsPlan | null = null,
  ) {
    this.#store = store;
    this.#query = query;
    this.#lookups = lookups;
    this.#budget = budget;
    this.#reader = new PayloadReader(store, query.projectId, budget);
    const source = { store, projectId: query.projectId, costs: () => this.#getCosts(), budget };
    this.#traces = totals && new TraceReader({ ...source, plan: totals });
  }

  /** Which prices costs are worked out by; undefined if that is not known. */
  async pricesVersion(): Promise<string | undefined> {
    return (await this.#getCosts()).version;
  }

  /** Calls whose payloads were read. */
  get hydrated(): number {
    return this.#hydrated + (this.#traces?.hydrated ?? 0);
  }

  /**
   * Fetches what is required and not there yet, in the order of the rows. Calls that are gone by
   * now are left out. A call whose payload is in its item comes back as it is now.
   *
   * @throws ServiceError 503 when storage does not give something in time
   */
  async enrich(
    rows: readonly QueriedCall[],
    requirements: readonly Requirement[],
  ): Promise<readonly QueriedCall[]> {
    let enriched = await this.#withPayloads(rows, requirements);
    if (requirements.includes('preview')) enriched = await this.#withPreviews(enriched);
    if (requirements.includes('expanded'))
      enriched = await expandRows(this.#query.expand, enriched, (refs) =>
        this.#lookups.objects(refs, this.#budget),
      );
    if (requirements.includes('costs')) enriched = await this.#withCosts(enriched);
    if (requirements.includes('feedback')) enriched = await this.#withFeedback(enriched);
    if (requirements.includes('totalSize')) enriched = await this.#withTotalSizes(enriched);
    if (requirements.includes('traceTotals')) enriched = await this.#withTraceTotals(enriched);
    return enriched;
  }

  async #withPayloads(
    rows: readonly QueriedCall[],
    requirements: readonly Requirement[],
  ): Promise<readonly QueriedCall[]> {
    const isRequired = requiresPayload(requirements);
    const withoutPayload = rows.filter(({ header, payload }) => payload === null && isRequired(header));
    if (withoutPayload.length === 0) return rows;
    const calls = await this.#reader.read(withoutPayload.map(({ header }) => header));
    this.#hydrated += calls.length;
    const byId = new Map(calls.map((call) => [call.header.id, call]));
    const wantedRows = new Set(withoutPayload);
    return rows.flatMap((row) => {
      if (!wantedRows.has(row)) return [row];
      const call = byId.get(row.header.id);
      return call ? [row.readAs(call)] : [];
    });
  }

  async #withPreviews(rows: readonly QueriedCall[]): Promise<readonly QueriedCall[]> {
    const withoutPreview = rows.filter(({ payload, extras }) => payload === null && !extras.preview);
    if (withoutPreview.length === 0) return rows;
    const calls = await this.#reader.readPreviews(withoutPreview.map(({ header }) => header));
    this.#hydrated += calls.length;
    const byId = new Map(calls.map((call) => [call.header.id, call]));
    const wantedRows = new Set(withoutPreview);
    return rows.flatMap((row) => {
      const call = byId.get(row.header.id);
      return !wantedRows.has(row) ? [row] : call ? [row.previewedAs(call)] : [];
    });
  }

  async #withCosts(rows: readonly QueriedCall[]): Promise<readonly QueriedCall[]> {
    if (!rows.some((row) => isJsonObject(row.usage))) return rows;
    const computeCosts = await this.#getCosts();
    return rows.map((row) => {
      const { usage } = row;
      return isJsonObject(usage) ? row.with({ costs: computeCosts(usage, row.header.start.startedAt) }) : row;
    });
  }

  #getCosts(): ReturnType<Lookups['costs']> {
    this.#costs ??= this.#lookups.costs(this.#query.projectId, this.#budget);
    return this.#costs;
  }

  async #withFeedback(rows: readonly QueriedCall[]): Promise<readonly QueriedCall[]> {
    const ids = rows.filter(({ extras }) => !extras.feedback).map(({ header }) => header.id);
    if (ids.length === 0) return rows;
    this.#feedback ??= this.#lookups.feedback(this.#query.projectId, this.#budget);
    const found = await this.#feedback.on(ids);
    return rows.map((row) =>
      row.extras.feedback ? row : row.with({ feedback: found.get(row.header.id) ?? [] }),
    );
  }

  async #withTotalSizes(rows: readonly QueriedCall[]): Promise<readonly QueriedCall[]> {
    return mapConcurrent(rows, traceConcurrency, async (row) =>
      row.with({ totalSize: await this.#totalSize(row.header.start.traceId) }),
    );
  }

  async #withTraceTotals(rows: readonly QueriedCall[]): Promise<readonly QueriedCall[]> {
    const isWanted = ({ header, extras }: QueriedCall) => header.start.parentId === null && !extras.ofTrace;
    const traceIds = new Set(rows.filter(isWanted).map(({ header }) => header.start.traceId));
    if (!this.#traces || traceIds.size === 0) return rows;
    const traces = await this.#traces.read(traceIds);
    return rows.map((row) =>
      isWanted(row) ? row.with({ ofTrace: traces.get(row.header.start.traceId) ?? new Figures() }) : row,
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
  const needsUsage = requirements.includes('usage') || requirements.includes('costs');
  const attributes = headerAttributes.filter((name) => requirements.includes(`attributes.${name}`));
  return ({ start, end }) =>
    (needsUsage && end?.usage === true) || attributes.some((name) => start.attributes[name] === true);
};

type Expanded = Partial<Record<PayloadField, JsonValue>>;

/** A ref somewhere in a call, and how to replace it. */
interface Occurrence {
  readonly ref: Ref;
  readonly replace: (value: JsonValue) => void;
}

/** Finds the ref to an object or op at a path, if there is one. */
const occurrence = (fields: Expanded, field: PayloadField, steps: readonly string[]): Occurrence[] => {
  const root = fields[field] ?? null;
  const keys = keysTo(root, steps);
  const value = keys && valueAt(root, steps);
  const ref = typeof value === 'string' ? parseRef(value) : undefined;
  if (!keys || !ref || ref.kind === 'call') return [];
  const last = keys.at(-1);
  const replace = (found: JsonValue): void => {
    if (last === undefined) fields[field] = found;
    else {
      const parent = keys
        .slice(0, -1)
        .reduce<unknown>((at, key) => (at as Record<string, unknown>)[key], root);
      // A plain assignment to __proto__ would set the prototype.
      Object.defineProperty(parent, last, {
        value: found,
        enumerable: true,
        writable: true,
        configurable: true,
      });
    }
  };
  return [{ ref, replace }];
};

const parsed = (row: QueriedCall, field: PayloadField): JsonValue =>
  parseJson(row.payload?.[field] ?? 'null') as JsonValue;

/**
 * Replaces the refs at the given paths of calls by what they lead to. Shorter paths come first, so
 * that a longer path can lead into what has replaced a ref. A ref to nothing stays.
 *
 * @param rows calls with their payloads
 * @param resolve gives what refs lead to, in their order
 */
const expandRows = async (
  paths: readonly FieldPath[],
  rows: readonly QueriedCall[],
  resolve: (refs: readonly Ref[]) => Promise<readonly (JsonValue | undefined)[]>,
): Promise<QueriedCall[]> => {
  const ofPayload = paths
    .flatMap(({ field, steps }) => (isPayloadColumn(field) ? [{ field, steps }] : []))
    .toSorted((a, b) => a.steps.length - b.steps.length);
  const fields = new Set(ofPayload.map(({ field }) => field));
  const expanded = rows.map(
    (row): Expanded =>
      Object.fromEntries(
        [...fields].map((field) => [field, row.extras.expanded?.[field] ?? parsed(row, field)]),
      ),
  );
  for (const { field, steps } of ofPayload) {
    const found = expanded.flatMap((values) => occurrence(values, field, steps));
    if (found.length === 0) continue;
    const values = await resolve(found.map(({ ref }) => ref));
    // Calls may share what their refs lead to. A deeper path must replace a ref in a copy of it.
    const isDeeper = (other: (typeof ofPayload)[number]) =>
      other.field === field &&
      other.steps.length > steps.length &&
      steps.every((step, i) => step === other.steps[i]);
    const own = ofPayload.some(isDeeper) ? copyJson : (value: JsonValue) => value;
    for (const [i, { replace }] of found.entries()) {
      const value = values[i];
      if (value !== undefined) replace(own(value));
    }
  }
  return rows.map((row, i) => row.with({ expanded: expanded[i] ?? {} }));
};
