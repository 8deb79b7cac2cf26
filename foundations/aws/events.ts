import * as z from 'zod/mini';
import type { RequestBudget } from '../storage/index.ts';
import { askJson } from './ask.ts';

/** An event that is put on a bus by itself. */
export interface SingleEvent {
  /** Its detail-type. */
  readonly kind: string;
  /** What rules and targets get, as JSON of at most 240 KB. */
  readonly detail: object;
  /** In milliseconds since 1970. */
  readonly time: number;
}

/** The source of all events. Rules match it. */
export const eventSource = 'pennytrace';

const answer = z.object({
  Entries: z._default(z.array(z.object({ ErrorCode: z.optional(z.string()) })), []),
});

/**
 * Puts an event on an event bus.
 *
 * @param bus the name of a bus of the function's account and region
 * @throws AwsError if EventBridge refuses; Error if it does not take the event, or not in time
 */
export const putEvent = async (
  bus: string,
  { kind, detail, time }: SingleEvent,
  budget: Pick<RequestBudget, 'deadline' | 'signal'>,
): Promise<void> => {
  const { AWS_REGION: region = '', AWS_ENDPOINT_URL_EVENTBRIDGE: endpoint } = process.env;
  const service = { service: 'events', region, endpoint };
  const entry = {
    EventBusName: bus,
    Source: eventSource,
    DetailType: kind,
    Detail: JSON.stringify(detail),
    Time: time / 1000,
  };
  const { Entries } = z.parse(
    answer,
    await askJson(service, 'AWSEvents.PutEvents', { Entries: [entry] }, budget),
  );
  const code = Entries[0]?.ErrorCode;
  if (code !== undefined) throw new Error(`the event bus ${bus} did not take the event: ${code}`);
};
