import { createHash } from 'node:crypto';
import { pack } from '../../encoding/index.ts';
import type { ProjectId } from '../../wire/index.ts';
import type { PayloadPointer } from '../model.ts';

/*
 * All payloads of one request and project go into one segment, compressed together: agent traces
 * repeat themselves, and a call that costs 2.1 KB by itself costs 0.13 KB among a hundred.
 */

/**
 * A segment is closed at about this many compressed bytes, so that reading one call stays cheap.
 */
const targetBytes = 64 * 1024;
/**
 * Above this, S3: a write unit a KB costs more than a PUT from 8 KB on, and an item ends at 400 KB.
 */
const maxItemBytes = 128 * 1024;

/** A packed segment, ready to be stored. */
export interface Segment {
  /**
   * Its name: hex digits that its content gives, so that a repeated request writes the same segment
   * again.
   */
  readonly id: string;
  readonly bytes: Buffer;
}

/** A block on its way into a segment, and whose it is. */
export interface Block {
  /**
   * What the block belongs to: a call's id and part. No two blocks of a request have the same
   * owner.
   */
  readonly owner: string;
  readonly bytes: Buffer;
}

/**
 * What a segment's name begins with: its kind, and for an object that expires, whose expiry is a
 * rule of the bucket, after how many days in four hex digits.
 */
const kinds = { item: '00', keptObject: '01', expiringObject: '02' } as const;
const daysLength = 4;

/** Where a segment lies, by its name: an item of the table, or an object in the bucket. */
export const segmentHome = (id: string): 'table' | 'bucket' =>
  id.startsWith(kinds.item) ? 'table' : 'bucket';

/**
 * The bucket's key of a segment. What expires has a prefix of its own, which a lifecycle rule of
 * the bucket names.
 */
export const segmentObject = (projectId: ProjectId, id: string): string => {
  const isExpiring = id.startsWith(kinds.expiringObject);
  const days = Number.parseInt(id.slice(kinds.expiringObject.length).slice(0, daysLength), 16);
  return `segments/${isExpiring ? `expiring-${days}` : 'kept'}/${projectId}/${id}.zst`;
};

/**
 * The name of a segment: where it lies, and the first 96 bits of a SHA-256 over what is in it,
 * whose it is and how long it stays. The owners take part so that two calls that merely say the
 * same never share a segment: deleting one would empty the other. So does the retention: a repeated
 * report must not give the segment of a header that stays an expiry.
 */
const nameOf = (
  projectId: ProjectId,
  blocks: readonly Block[],
  packedBytes: number,
  retentionDays: number | undefined,
): string => {
  const hash = createHash('sha256').update(`${projectId} ${retentionDays}`);
  for (const block of blocks) hash.update(`\0${block.owner}\0${block.bytes.length}\0`).update(block.bytes);
  const objectKind =
    retentionDays === undefined
      ? kinds.keptObject
      : kinds.expiringObject + retentionDays.toString(16).padStart(daysLength, '0');
  const kind = packedBytes > maxItemBytes ? objectKind : kinds.item;
  return `${kind}${hash.digest('hex').slice(0, 24)}`;
};

/** Cuts the blocks into runs of about `bytes` each, in order; a block is never cut. */
const runsOf = (blocks: readonly Block[], bytes: number): Block[][] => {
  const runs: Block[][] = [];
  let size = Number.POSITIVE_INFINITY;
  for (const block of blocks) {
    if (size + block.bytes.length > bytes) {
      runs.push([]);
      size = 0;
    }
    runs.at(-1)?.push(block);
    size += block.bytes.length;
  }
  return runs;
};

const toSegment = (
  projectId: ProjectId,
  blocks: readonly Block[],
  bytes: Buffer,
  retentionDays: number | undefined,
): { segment: Segment; pointers: PayloadPointer[] } => {
  const segment = { id: nameOf(projectId, blocks, bytes.length, retentionDays), bytes };
  let offset = 0;
  const pointers = blocks.map((block) => {
    const pointer = { segment: segment.id, offset, length: block.bytes.length };
    offset += block.bytes.length;
    return pointer;
  });
  return { segment, pointers };
};

const packBlocks = (blocks: readonly Block[]): Promise<Buffer> =>
  pack(Buffer.concat(blocks.map(({ bytes }) => bytes)));

/**
 * Packs the blocks of one project into as few segments of about 64 KB compressed as hold them.
 *
 * @param retentionDays after how many days they expire; undefined for never
 * @returns the segments, and each block's pointer, in the order of the blocks
 */
export const packSegments = async (
  projectId: ProjectId,
  blocks: readonly Block[],
  retentionDays: number | undefined,
): Promise<{ segments: Segment[]; pointers: PayloadPointer[] }> => {
  if (blocks.length === 0) return { segments: [], pointers: [] };
  const whole = await packBlocks(blocks);
  if (whole.length <= targetBytes || blocks.length === 1) {
    const { segment, pointers } = toSegment(projectId, blocks, whole, retentionDays);
    return { segments: [segment], pointers };
  }
  const total = blocks.reduce((sum, block) => sum + block.bytes.length, 0);
  const runs = runsOf(blocks, (total * targetBytes) / whole.length);
  const packed = await Promise.all(
    runs.map(async (run) => toSegment(projectId, run, await packBlocks(run), retentionDays)),
  );
  return {
    segments: packed.map(({ segment }) => segment),
    pointers: packed.flatMap(({ pointers }) => pointers),
  };
};

/**
 * Cuts a block out of an unpacked segment.
 *
 * @throws Error where the segment is too short to hold it
 */
export const blockOf = (unpacked: Uint8Array, pointer: PayloadPointer): Uint8Array => {
  const end = pointer.offset + pointer.length;
  if (end > unpacked.length) throw new Error(`payload segment ${pointer.segment} ends before byte ${end}`);
  return unpacked.subarray(pointer.offset, end);
};
