import type { Bucket, Item, Table } from '../storage/index.ts';
import type { WireNames } from '../wire/index.ts';

/** Where feedback is stored, and the settings that its layout depends on. */
export interface FeedbackStore {
  readonly table: Table;
  /** For the payloads too big for an item. */
  readonly bucket: Bucket;
  readonly names: WireNames;
  /** The shard counts that have ever been in force, the present one last. */
  readonly shards: readonly [number, ...number[]];
  /** Days after which what is stored expires; undefined keeps it. */
  readonly retentionDays?: number | undefined;
}

/** The shard count that writes use. */
export const shardCount = ({ shards }: FeedbackStore): number => shards.at(-1) ?? shards[0];

/** The attribute that makes an item expire so many days from now. */
export const expiryIn = (days: number): Item => ({
  x: { N: String(Math.floor(Date.now() / 1000) + days * 86_400) },
});

/** The attribute that makes a record expire, if the store has a retention. */
export const expiry = ({ retentionDays }: FeedbackStore): Item =>
  retentionDays === undefined ? {} : expiryIn(retentionDays);
