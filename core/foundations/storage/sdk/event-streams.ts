/*
 * Takes the place of `@smithy/core/event-streams` in the bundles (lib/bundles.ts). No operation of
 * DynamoDB or S3 that we use has an event stream.
 */

/** The SDK asks it for operations with an event stream. Throws. */
export const eventStreamSerdeProvider = (): never => {
  throw new Error('no event streams are bundled');
};

/** Never made, since its provider throws. */
export class EventStreamSerde {}
