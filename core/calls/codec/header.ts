import {
  decodeMessagePack,
  encodeMessagePack,
  type PackedId,
  packId,
  trimNulls,
  unpackId,
} from '../../encoding/index.ts';
import type { ProjectId, WireNames } from '../../wire/index.ts';
import type { CallHeader, EndHeader, EndStatus, PayloadPointer, StartHeader } from '../model.ts';
import type { Part } from './keys.ts';
import { packUsage, unpackUsage } from './packed-usage.ts';

/*
 * A header is one MessagePack list, [version, start | null, end | null], each part a list in the
 * order of the codecs below: rows are read by the thousand, and every byte is stored in the item
 * and in each of its index rows. UUIDs are 16 bytes, an op of the call's own project goes without
 * its scheme and project, and what repeats another field of the same header is a small number or
 * nothing.
 */

const version = 2;
/**
 * Had ends that repeated where the start's payload lies, and usage with all its names; it is read
 * as it is.
 */
const oldestVersion = 1;

/**
 * Stands for the scheme and project of a ref into the call's own project; no printable name begins
 * with it.
 */
const ownOp = '\u0001';
const ownOpPrefix = ({ projectId, names }: Pick<HeaderOwner, 'projectId' | 'names'>): string =>
  `${names.refScheme}${projectId}/op/`;

/**
 * A segment is its name's bytes, null for none, or a number for "the same as the start's"; an
 * offset of null is where the start's block ends.
 */
type PackedPointer = [segment: Uint8Array | number | null, offset: number | null, length: number];

const sameSegment = 0;

const packPointer = ({ segment, offset, length }: PayloadPointer, start?: PayloadPointer): PackedPointer => [
  segment === null ? null : segment === start?.segment ? sameSegment : Buffer.from(segment, 'hex'),
  start && offset === start.offset + start.length ? null : offset,
  length,
];

const unpackSegment = (segment: unknown, start: PayloadPointer | undefined): string | null => {
  if (segment === sameSegment) return start?.segment ?? null;
  return segment instanceof Uint8Array ? Buffer.from(segment).toString('hex') : null;
};

const unpackPointer = (
  [segment, offset, length]: readonly [unknown, unknown, unknown],
  start?: PayloadPointer,
): PayloadPointer => ({
  segment: unpackSegment(segment, start),
  offset: offset === null && start ? start.offset + start.length : Number(offset),
  length: Number(length),
});

const statuses: readonly EndStatus[] = ['success', 'error', 'descendant_error'];

const statusAt = (index: unknown): EndStatus => {
  const status = statuses[Number(index)];
  if (status === undefined) throw new Error(`a header with the status ${String(index)}`);
  return status;
};

/** What a header belongs to: its key says so, and its own text need not. */
export interface HeaderOwner {
  readonly projectId: ProjectId;
  readonly id: string;
  readonly names: WireNames;
}

const packStart = (start: StartHeader, owner: HeaderOwner): unknown[] => {
  const prefix = ownOpPrefix(owner);
  const opName = start.opName.startsWith(prefix) ? ownOp + start.opName.slice(prefix.length) : start.opName;
  const known = [owner.id, start.parentId];
  return [
    opName,
    start.startedAt,
    packId(start.parentId, [owner.id]),
    packId(start.traceId, known),
    packId(start.turnId, known),
    packId(start.threadId, known),
    start.userId,
    start.bytes,
    ...packPointer(start.payload),
    start.runId,
    start.runStep,
    start.displayName,
  ];
};

const unpackStart = (fields: unknown[], owner: HeaderOwner): StartHeader => {
  const [packedOp, startedAt, parent, trace, turn, thread, userId, bytes, ...rest] = fields;
  const [segment, offset, length, runId, runStep, displayName] = rest;
  const opName = String(packedOp);
  const parentId = unpackId(parent as PackedId, [owner.id]);
  const known = [owner.id, parentId];
  return {
    opName: opName.startsWith(ownOp) ? ownOpPrefix(owner) + opName.slice(1) : opName,
    displayName: (displayName ?? null) as string | null,
    traceId: unpackId(trace as PackedId, known) ?? owner.id,
    parentId,
    threadId: unpackId(thread as PackedId, known),
    turnId: unpackId(turn as PackedId, known),
    startedAt: Number(startedAt),
    userId: String(userId),
    runId: (runId ?? null) as string | null,
    runStep: (runStep ?? null) as number | null,
    bytes: Number(bytes),
    payload: unpackPointer([segment, offset, length]),
  };
};

const packEnd = (end: EndHeader, start: StartHeader | null): unknown[] => [
  end.endedAt,
  statuses.indexOf(end.status),
  end.bytes,
  ...packPointer(end.payload, start?.payload),
  end.runStepEnd,
  packUsage(end.usage),
];

const unpackEnd = (fields: unknown[], start: StartHeader | null): EndHeader => {
  const [endedAt, status, bytes, segment, offset, length, runStepEnd, usage] = fields;
  return {
    endedAt: Number(endedAt),
    status: statusAt(status),
    runStepEnd: (runStepEnd ?? null) as number | null,
    usage: unpackUsage(usage ?? null),
    bytes: Number(bytes),
    payload: unpackPointer([segment, offset, length], start?.payload),
  };
};

/** A stored header: a start, an end, or both. */
export interface HeaderParts {
  readonly start: StartHeader | null;
  readonly end: EndHeader | null;
}

/** Packs a header for the attribute `h`. Times are microseconds, sizes bytes. */
export const packHeader = ({ start, end }: HeaderParts, owner: HeaderOwner): Uint8Array =>
  encodeMessagePack([
    version,
    start && trimNulls(packStart(start, owner)),
    end && trimNulls(packEnd(end, start)),
  ]);

/**
 * Unpacks the attribute `h`.
 *
 * @throws Error on a version that a later release wrote
 */
export const unpackHeader = (bytes: Uint8Array, owner: HeaderOwner): HeaderParts => {
  const [found, startFields, endFields] = decodeMessagePack(bytes) as [
    number,
    unknown[] | null,
    unknown[] | null,
  ];
  if (!(found >= oldestVersion && found <= version))
    throw new Error(`a header of version ${found}, and this release reads ${oldestVersion} to ${version}`);
  const start = startFields && unpackStart(startFields, owner);
  return { start, end: endFields && unpackEnd(endFields, start) };
};

/**
 * Folds the stored parts of one call, whatever their order. An end that lies beside the start is in
 * force over one that lies alone, so that whoever has read the start, from the table or any index,
 * knows whether to look for another: writers see to it that the right one lies there.
 *
 * @returns null for a call without a start, which is not visible
 */
export const foldHeader = (
  { projectId, id }: Pick<HeaderOwner, 'projectId' | 'id'>,
  parts: readonly (HeaderParts & { readonly part: Part })[],
): CallHeader | null => {
  const start = parts.find((part) => part.start)?.start;
  if (!start) return null;
  const beside = parts.find(({ part }) => part === 'S')?.end ?? null;
  const alone = parts.find(({ part }) => part === 'E')?.end ?? null;
  return { projectId, id, start, end: beside ?? alone, endPart: beside ? 'S' : 'E' };
};
