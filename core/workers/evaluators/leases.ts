import { randomInt, randomUUID } from 'node:crypto';
import {
  asNumber,
  asText,
  type Condition,
  compareAndSwap,
  deleteItem,
  type Item,
  queryPage,
  type RequestBudget,
  replaceItem,
  type Table,
} from '../../../foundations/storage/index.ts';
import type { TableKey } from '../../../foundations/storage/tables.ts';
import type { ProjectId } from '../../../foundations/wire/index.ts';
import { toPartition } from '../../records/partitions.ts';
import { type JobMessage, type JobQueue, sendJobs } from './jobs.ts';

/*
 * A judge can take minutes, and the function that asks judges works on a bounded number of messages at
 * once. So a message with judges takes one of its project's leases first, which are in the table `bookkeeping`.
 * A project has fewer leases than there are messages at once, so others always get through:
 * docs/decisions/0253.
 *
 *   lease   k  22 project   s  number, from 0
 *     u  until when it is taken, in milliseconds since 1970
 *     w  who has taken it, by a name that was made up
 *
 * The lease of a function that dies runs out, and is free then.
 */

const leaseKey = (projectId: ProjectId, number: number): TableKey<'bookkeeping'> => {
  const s = Buffer.alloc(2);
  s.writeUInt16BE(number);
  return { k: toPartition('leases', projectId), s };
};

/** A lease that was taken. */
export interface Lease {
  readonly key: TableKey<'bookkeeping'>;
  readonly worker: string;
}

interface Wanted {
  /** How many leases a project has. */
  readonly leases: number;
  /** Until when it is taken, in milliseconds since 1970: whoever takes it has ended by then. */
  readonly until: number;
}

/** The condition that a lease is as it was read. */
const asRead = (item: Item | undefined): Condition =>
  item ? { u: asNumber(item.u), w: asText(item.w) } : { k: undefined };

/**
 * Takes a lease of a project.
 *
 * @returns undefined if all are taken
 * @throws ServiceError 503 when storage does not take it in time; it may be taken then
 */
export const takeLease = (
  table: Table,
  projectId: ProjectId,
  { leases, until }: Wanted,
  budget: RequestBudget,
): Promise<Lease | undefined> => {
  const worker = randomUUID();
  return compareAndSwap<Lease | undefined>(budget, async () => {
    const range = { partition: ['k', toPartition('leases', projectId)] } as const;
    const { items } = await queryPage(table, range, budget, { consistent: true });
    const now = Date.now();
    const slots = Array.from({ length: leases }, (_, number) => {
      const key = leaseKey(projectId, number);
      return { key, item: items.find(({ s }) => Buffer.compare(s as Uint8Array, key.s) === 0) };
    });
    // The answer to an earlier round may have been lost.
    const own = slots.find(({ item }) => asText(item?.w) === worker);
    if (own) return { value: { key: own.key, worker } };
    const free = slots.filter(({ item }) => (asNumber(item?.u) ?? 0) <= now);
    // Any of them: several look for one at the same time.
    const slot = free.length > 0 ? free[randomInt(free.length)] : undefined;
    if (!slot) return { value: undefined };
    const item = { ...slot.key, u: until, w: worker, x: Math.ceil(until / 1000) };
    const isTaken = await replaceItem(table, item, asRead(slot.item), budget);
    return isTaken ? { value: { key: slot.key, worker } } : undefined;
  });
};

/** Ends a lease. If storage does not take that in time, it runs out by itself. */
export const endLease = async (
  table: Table,
  { key, worker }: Lease,
  budget: RequestBudget,
): Promise<void> => {
  await deleteItem(table, key, { w: worker }, budget).catch(() => undefined);
};

/** How long a message waits for a lease at first and at last, in seconds. SQS delays no longer than that. */
const firstWait = 5;
const lastWait = 900;

/** A time to wait, in seconds, longer each time: many that wait cost little, and few come back soon. */
const waitSeconds = (waits: number): number => {
  const most = Math.min(lastWait, firstWait * 2 ** waits);
  return randomInt(Math.ceil(most / 2), most + 1);
};

/**
 * Puts jobs of a message back into the queue, for a while.
 *
 * @throws ServiceError 503 when the queue does not take them in time; it may have taken them
 */
export const putBack = (
  queue: JobQueue,
  { jobs, tries, waits }: JobMessage,
  budget: RequestBudget,
): Promise<void> => {
  const delaySeconds = waitSeconds(waits);
  const later = jobs.map((job) => ({ ...job, delaySeconds }));
  return sendJobs(queue, later, budget, { tries, waits: waits + 1 });
};
