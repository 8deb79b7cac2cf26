import { shardOf } from '../encoding/index.ts';
import type { WireNames } from '../wire/index.ts';
import type { Bucket } from './bucket.ts';
import type { ExpiryOf } from './declared-keys.ts';
import type { Table } from './table.ts';

/** Where one kind of thing is stored, and the settings that its layout depends on. */
export interface Store {
  readonly table: Table;
  /** For what is too big for an item. */
  readonly bucket: Bucket;
  readonly names: WireNames;
  /** The shard counts that have ever been in force, the present one last. */
  readonly shards: readonly [number, ...number[]];
  /** Days after which what is stored expires; undefined keeps it. */
  readonly retentionDays?: number | undefined;
}

/** The shard count that writes use. */
export const shardCount = ({ shards }: Pick<Store, 'shards'>): number => shards.at(-1) ?? shards[0];

/** Every shard of a project that writes have ever used. */
export const everyShard = ({ shards }: Pick<Store, 'shards'>): number[] =>
  Array.from({ length: Math.max(...shards) }, (_, shard) => shard);

/**
 * The shards in which what is sharded by an id can lie. An item stays in its shard when the count
 * grows.
 */
export const shardsOf = ({ shards }: Pick<Store, 'shards'>, id: string): number[] => [
  ...new Set(shards.map((count) => shardOf(id, count))),
];

type Expiry = ExpiryOf<'calls'> & ExpiryOf<'feedback'>;

/** The attribute that makes an item expire so many days from now. */
export const expiryIn = (days: number): Expiry => ({
  x: Math.floor(Date.now() / 1000) + days * 86_400,
});

/**
 * The attribute that makes an item expire, if the store has a retention.
 *
 * @param graceDays how many days later than the retention says
 */
export const expiry = ({ retentionDays }: Pick<Store, 'retentionDays'>, graceDays = 0): Partial<Expiry> =>
  retentionDays === undefined ? {} : expiryIn(retentionDays + graceDays);
