import {
  callRef,
  type JsonObject,
  type JsonValue,
  parseJson,
  type WireNames,
} from '../../foundations/wire/index.ts';
import {
  type CallHeader,
  callColumns,
  headerValue,
  isPayloadColumn,
  isTurn,
  type Payload,
  serviceSummary,
} from '../../records/calls/index.ts';
import type { Costs } from '../../records/costs/index.ts';
import type { Measured } from '../streams/index.ts';
import type { EndedCall } from './ended.ts';
import { eventId } from './event-id.ts';
import { withFitting } from './fit.ts';
import type { EventKind, ServiceEvent } from './model.ts';

/** An ended call with all that its events say. */
export type ToldCall = EndedCall & Measured;

/** The kinds of events that an ended call makes. */
const kindsOf = ({ id, start, end }: CallHeader): EventKind[] => [
  'CallEnded',
  ...(end?.status === 'error' ? (['CallFailed'] as const) : []),
  ...(isTurn({ id, ...start }) ? (['TurnEnded'] as const) : []),
];

const totalOf = (costs: Costs): number =>
  Object.values(costs).reduce(
    (sum, each) => sum + each.prompt_tokens_total_cost + each.completion_tokens_total_cost,
    0,
  );

const headerFields = (names: WireNames, header: CallHeader): JsonObject =>
  Object.fromEntries(
    callColumns(names).flatMap((column) =>
      isPayloadColumn(column) ? [] : [[column, headerValue(names, header, column) ?? null]],
    ),
  );

const parsed = (payload: Payload): JsonObject =>
  Object.fromEntries(Object.entries(payload).map(([field, text]) => [field, parseJson(text) as JsonValue]));

/**
 * The events of an ended call. Their ids are made of the end alone. So the same end has the same
 * ids however often it is reported, and wherever its payload lies.
 */
export const callEvents = (
  names: WireNames,
  { change, header, usage, costs, payload }: ToldCall,
): ServiceEvent[] => {
  const { projectId, id, end } = header;
  const { payload: _, ...revision } = end ?? { payload: null };
  const detail = {
    call_ref: callRef(names, projectId, id),
    ...headerFields(names, header),
    ...serviceSummary(names, header),
    total_cost: totalOf(costs),
  };
  // Clients choose the names of models, and what they say of usage.
  const variable = { usage, costs: { ...costs }, ...(payload && parsed(payload)) };
  return kindsOf(header).map((kind) => {
    const own = eventId(kind, projectId, id, revision);
    return {
      kind,
      id: own,
      time: change.change.at,
      detail: withFitting({ event_id: own, ...detail }, variable),
    };
  });
};
