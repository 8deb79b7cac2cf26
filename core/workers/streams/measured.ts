import type { RequestBudget, Store } from '../../foundations/storage/index.ts';
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type Micros,
  type ProjectId,
  parseJson,
} from '../../foundations/wire/index.ts';
import { type CallHeader, type Payload, PayloadReader } from '../../records/calls/index.ts';
import type { Costs } from '../../records/costs/index.ts';

/** Gives the costs of a project's calls, at the prices in force when they started. */
export type CostsOfProject = (
  projectId: ProjectId,
  budget: RequestBudget,
) => Promise<(usage: JsonObject, startedAt: Micros) => Costs>;

/** Where calls and prices are. */
export interface MeasureSources {
  readonly calls: Store;
  readonly costs: CostsOfProject;
}

/** What calls used and cost. */
export interface Measured {
  readonly usage: JsonValue;
  readonly costs: Costs;
  /** Null if it was not asked for. */
  readonly payload: Payload | null;
}

/** The usage of a call: as its header has it, else as its summary does. */
const usageOf = ({ end }: CallHeader, payload: Payload | undefined): JsonValue => {
  if (end?.usage !== true) return end?.usage ?? {};
  const summary = parseJson(payload?.summary ?? '{}') as JsonValue;
  return isJsonObject(summary) ? (summary.usage ?? {}) : {};
};

const measureProject = async (
  { calls, costs }: MeasureSources,
  projectId: ProjectId,
  headers: readonly CallHeader[],
  wantsPayloads: boolean,
  budget: RequestBudget,
): Promise<Map<CallHeader, Measured>> => {
  const needsPayload = ({ end }: CallHeader) => wantsPayloads || end?.usage === true;
  const needed = headers.filter(needsPayload);
  const read = needed.length > 0 ? await new PayloadReader(calls, projectId, budget).read(needed) : [];
  const payloads = new Map(read.map(({ header, payload }) => [header, payload]));
  const costsOf = headers.some(({ end }) => end?.usage) ? await costs(projectId, budget) : () => ({});
  return new Map(
    headers.flatMap((header): [CallHeader, Measured][] => {
      const payload = payloads.get(header);
      if (needsPayload(header) && !payload) return [];
      const usage = usageOf(header, payload);
      return [
        [
          header,
          {
            usage,
            costs: isJsonObject(usage) ? costsOf(usage, header.start.startedAt) : {},
            payload: wantsPayloads ? (payload ?? null) : null,
          },
        ],
      ];
    }),
  );
};

/**
 * Finds what calls used and cost. Calls whose payload is needed and gone are left out: they have
 * been deleted meanwhile.
 *
 * @param wantsPayloads whether to read the payloads of all
 * @throws ServiceError 503 when storage does not answer in time
 */
export const measure = async (
  sources: MeasureSources,
  headers: readonly CallHeader[],
  wantsPayloads: boolean,
  budget: RequestBudget,
): Promise<Map<CallHeader, Measured>> => {
  const measured = new Map<CallHeader, Measured>();
  for (const [projectId, some] of Map.groupBy(headers, ({ projectId }) => projectId))
    for (const [header, found] of await measureProject(sources, projectId, some, wantsPayloads, budget))
      measured.set(header, found);
  return measured;
};
