import { shardOf } from '../encoding/index.ts';
import type { WireNames } from '../wire/index.ts';
import type { Bucket } from './bucket.ts';
import type { ExpiryOf } from './declared-keys.ts';
import type { Table } from './table.ts';

/** A table, the bucket for its large values, and the settings that the layout depends on. */
export interface Store {
  readonly table: Table;
  /** For values that are too big for an item. */
  readonly bucket: Bucket;
  readonly names: WireNames;
  /** Every shard count so far, the present one last. */
  readonly shards: readonly [number, ...number[]];
  /** The days after which items expire; undefined if they are kept. */
  readonly retentionDays?: number | undefined;
  /**
   * Where rollups of calls and their marks are. A function that changes calls needs it, or rollups
   * go stale; without it nothing is rolled up. @default - none
   */
  readonly rollups?: Table | undefined;
}

/** The shard count that writes use. */
export const shardCount = ({ shards }: Pick<Store, 'shards'>): number => shards.at(-1) ?? shards[0];

/** Every shard of a project that writes have ever used. */
export const everyShard = ({ shards }: Pick<Store, 'shards'>): number[] =>
  Array.from({ length: Math.max(...shards) }, (_, shard) => shard);

/** The shards that an id can be in. An item stays in its shard when the count grows. */
export const shardsOf = ({ shards }: Pick<Store, 'shards'>, id: string): number[] => [
  ...new Set(shards.map((count) => shardOf(id, count))),
];

type Expiry = ExpiryOf<'calls'> & ExpiryOf<'feedback'>;

/** The attribute that makes an item expire after so many days. */
export const expiryIn = (days: number): Expiry => ({
  x: Math.floor(Date.now() / 1000) + days * 86_400,
});

/**
 * The attribute that makes an item expire, if the store has a retention.
 *
 * @param graceDays days to add to the retention
 */
export const expiry = ({ retentionDays }: Pick<Store, 'retentionDays'>, graceDays = 0): Partial<Expiry> =>
  retentionDays === undefined ? {} : expiryIn(retentionDays + graceDays);
