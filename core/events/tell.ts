import { PayloadReader, type StoredCall } from '../calls/index.ts';
import type { Costs } from '../costs/index.ts';
import type { RequestBudget, Store } from '../storage/index.ts';
import { type StreamRecord, sequenceOf, toCallChange, toChange } from '../streams/index.ts';
import { isJsonObject, type JsonObject, type Micros, type ProjectId } from '../wire/index.ts';
import { callEvents, type ToldCall, usageOf } from './call-events.ts';
import { type EndedCall, endedCalls } from './ended.ts';
import { feedbackEvent } from './feedback-events.ts';
import type { ServiceEvent } from './model.ts';

/** Gives the costs of a project's calls, at the prices in force when they started. */
export type CostsOfProject = (
  projectId: ProjectId,
  budget: RequestBudget,
) => Promise<(usage: JsonObject, startedAt: Micros) => Costs>;

/** What events are made from. */
export interface EventSources {
  readonly calls: Store;
  readonly feedback: Store;
  readonly costs: CostsOfProject;
  /** Whether events have what calls got and gave, too. */
  readonly payloads: boolean;
}

/** An event and the record that it comes from. */
export interface ToldEvent {
  readonly sequence: string;
  readonly event: ServiceEvent;
}

/** Reads the payloads that the events of a project's calls need. */
const readPayloads = async (
  { calls, payloads }: EventSources,
  projectId: ProjectId,
  ended: readonly EndedCall[],
  budget: RequestBudget,
): Promise<Map<EndedCall, StoredCall | null>> => {
  const isNeeded = ({ header }: EndedCall) => payloads || header.end?.usage === true;
  const needed = ended.filter(isNeeded);
  const read =
    needed.length === 0
      ? []
      : await new PayloadReader(calls, projectId, budget).read(needed.map(({ header }) => header));
  const byHeader = new Map(read.map((call) => [call.header, call]));
  // A call whose payload is gone has been deleted meanwhile: there is nothing to tell of.
  return new Map(
    ended.flatMap((call): [EndedCall, StoredCall | null][] => {
      if (!isNeeded(call)) return [[call, null]];
      const found = byHeader.get(call.header);
      return found ? [[call, found]] : [];
    }),
  );
};

/** Fetches what the events of a project's calls say besides headers. */
const tellOfProject = async (
  sources: EventSources,
  projectId: ProjectId,
  ended: readonly EndedCall[],
  budget: RequestBudget,
): Promise<ToldCall[]> => {
  const payloads = await readPayloads(sources, projectId, ended, budget);
  const hasUsage = ended.some(({ header }) => header.end?.usage);
  const costsOf = hasUsage ? await sources.costs(projectId, budget) : () => ({});
  return [...payloads].map(([call, stored]) => {
    const { header } = call;
    const usage = usageOf(header, stored?.payload ?? null);
    const costs = isJsonObject(usage) ? costsOf(usage, header.start.startedAt) : {};
    return { ...call, usage, costs, payload: sources.payloads ? (stored?.payload ?? null) : null };
  });
};

/**
 * Makes the events of records, in order, each once.
 *
 * @throws ServiceError 503 when storage does not answer in time; Error if a record cannot be read
 */
export const tell = async (
  sources: EventSources,
  records: readonly StreamRecord[],
  budget: RequestBudget,
): Promise<ToldEvent[]> => {
  const changes = records.map(toChange);
  const ofFeedback = changes.filter(({ table }) => table === sources.feedback.table.name);
  const ofCalls = changes.flatMap((change) =>
    change.table === sources.calls.table.name ? (toCallChange(sources.calls, change) ?? []) : [],
  );
  const ended = await endedCalls(sources.calls, ofCalls, budget);
  const told: ToldEvent[] = [];
  for (const [projectId, some] of Map.groupBy(ended, ({ header }) => header.projectId)) {
    for (const call of await tellOfProject(sources, projectId, some, budget))
      for (const event of callEvents(sources.calls.names, call))
        told.push({ sequence: call.change.change.sequence, event });
  }
  for (const change of ofFeedback) {
    const event = await feedbackEvent(sources.feedback, change);
    if (event) told.push({ sequence: change.sequence, event });
  }
  return inOrder(records, told);
};

/** Events in the order of their records, without what another event of the batch says already. */
const inOrder = (records: readonly StreamRecord[], told: readonly ToldEvent[]): ToldEvent[] => {
  const bySequence = Map.groupBy(told, ({ sequence }) => sequence);
  const ordered = records.flatMap((record) => bySequence.get(sequenceOf(record)) ?? []);
  return [...new Map(ordered.map((each) => [each.event.id, each])).values()];
};
