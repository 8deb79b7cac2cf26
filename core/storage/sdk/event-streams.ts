/*
 * Takes the place of `@smithy/core/event-streams` in the bundles (lib/bundles.ts): no operation of
 * DynamoDB or S3 that is used here has an event stream.
 */

/**
 * Stands where the SDK asks for event streams, which it does for operations that have one. Throws.
 */
export const eventStreamSerdeProvider = (): never => {
  throw new Error('no event streams are bundled');
};

/** Never made: its provider throws before. */
export class EventStreamSerde {}
