import { asBytes, type Item, type Store } from '../../foundations/storage/index.ts';
import {
  callRef,
  type JsonValue,
  parseJson,
  parseRef,
  type WireNames,
} from '../../foundations/wire/index.ts';
import { feedbackFields, feedbackOf } from '../../records/feedback/index.ts';
import type { ItemChange } from '../streams/index.ts';
import { eventId } from './event-id.ts';
import { withFitting } from './fit.ts';
import type { ServiceEvent } from './model.ts';

/** The call that a ref leads to. */
const callAt = (names: WireNames, ref: string): string | null => {
  const parsed = parseRef(names, ref);
  return parsed?.kind === 'call' ? callRef(names, parsed.projectId, parsed.callId) : null;
};

const digestOf = (item: Item | undefined): string | undefined => {
  const digest = asBytes(item?.d);
  return digest && Buffer.from(digest).toString('hex');
};

/**
 * The event of a change of the feedback table. Records that were replaced or purged make none. The
 * id is made of the record's content and time, so that the same record has the same.
 */
export const feedbackEvent = async (
  store: Store,
  { projectId, before, after, at }: ItemChange,
): Promise<ServiceEvent | undefined> => {
  const record = after && (await feedbackOf(store, projectId, after));
  // A record whose attributes changed, but not its content, is no new one.
  if (!record || (before?.h && digestOf(before) === digestOf(after))) return undefined;
  const { header, payload } = record;
  const id = eventId('FeedbackCreated', projectId, header.id, header.createdAt, digestOf(after));
  const detail = {
    event_id: id,
    ...feedbackFields(store.names, header),
    on_call: callAt(store.names, header.ref),
  };
  const variable = payload === null ? {} : { payload: parseJson(payload) as JsonValue };
  const whole = withFitting(detail, variable);
  return {
    kind: 'FeedbackCreated',
    id,
    time: at,
    detail: payload === null ? { ...whole, payload: null, cut: ['payload'] } : whole,
  };
};
