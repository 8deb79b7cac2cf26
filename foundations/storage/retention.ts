/*
 * How long projects keep what they hold, and what the bucket's rules can do of it. The stack reads it, too.
 */

/** The most days of a project's own retention: ten years. */
export const maxRetentionDays = 3650;

/**
 * The days after which the bucket's rules delete what expires. A rule takes no days but its own, so large
 * values of a project go with the next of these, at most half as late again.
 */
export const bucketDays: readonly number[] = [
  1,
  2,
  3,
  5,
  7,
  10,
  14,
  21,
  30,
  45,
  60,
  90,
  120,
  180,
  270,
  365,
  548,
  730,
  1095,
  1460,
  1825,
  2555,
  maxRetentionDays,
];

/** The days after which the bucket deletes what is kept for so many days. */
export const toBucketDays = (days: number): number =>
  bucketDays.find((those) => those >= days) ?? maxRetentionDays;

/** What expires outlives what leads to it by so many days, because DynamoDB deletes expired items late. */
export const payloadGraceDays = 3;

/** The tag of objects in the bucket that expired later when they were stored, with their days. */
export const expiryTag = 'expires-after-days';
