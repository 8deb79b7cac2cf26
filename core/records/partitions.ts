import { joinBytes } from '../../foundations/encoding/index.ts';

/**
 * The first byte of each partition key of the table `bookkeeping`, by what the partition holds. Stored keys
 * have them: never change one, and never use one again.
 */
export const partitionTags = {
  /** The projects that there are: one partition, by name. */
  projects: 1,
  /** The marks that make a project's rollups stale, by hour. */
  marks: 2,
  /** A project's rollups of hours, by day. */
  pages: 3,
  /** A project's rollups of days. */
  days: 4,
  /** The last dropped exports: one partition, by project. */
  dropped: 5,
  // 17 was what judges have spent.
  /** What is known of the questions of an evaluator's judge while they are asked. */
  questions: 18,
  /** What users, keys, evaluators and projects have spent of their limits, by month. */
  counters: 19,
  /** The projects with alerts: one partition, by project. */
  alertRegister: 20,
  /** What is known of a project's alerts, and what was told of them. */
  alerts: 21,
  /** Which of a project's messages with judges are worked on. */
  leases: 22,
  /** How far deletions of projects are, and the application of retentions: one partition, by project. */
  sweeps: 24,
  /** A project's issues of hours, by day. */
  issuePages: 25,
  /** A project's issues of days. */
  issueDays: 26,
  /** Which trigrams a project's calls have, by hour. */
  texts: 27,
  /** Which issues a project is known to have. */
  knownIssues: 28,
  /** Which of a project's calls come first in an order, by order and day. */
  extremes: 29,
} as const;

export type PartitionKind = keyof typeof partitionTags;

/** A partition key of the table `bookkeeping`: its tag, then parts as {@link joinBytes} takes them. */
export const toPartition = (kind: PartitionKind, ...parts: Parameters<typeof joinBytes>): Buffer =>
  joinBytes(partitionTags[kind], ...parts);
