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
 * A header is one MessagePack list, [version, start | null, end | null, early traces if there are
 * any]. Start and end are lists in the order of the codecs below. Every byte is stored in the item
 * and in each of its index rows, and thousands of rows are read at once, so headers are packed.
 * UUIDs take 16 bytes, and an op of the call's own project has no scheme and project. A value that
 * another field of the header has is a small number or left out.
 */

const version = 2;
/**
 * Its ends repeated the location of the start's payload, and its usage had all names. It is still
 * read.
 */
const oldestVersion = 1;

/**
 * Replaces the scheme and project of a ref into the call's own project. No printable name starts
 * with it.
 */
const ownOp = '\u0001';
const ownOpPrefix = ({ projectId, names }: Pick<HeaderOwner, 'projectId' | 'names'>): string =>
  `${names.refScheme}${projectId}/op/`;

/**
 * A segment is the bytes of its name, null for none, or a number for the start's segment. A null
 * offset is the end of the start's block.
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
  if (!(segment instanceof Uint8Array)) return null;
  return Buffer.from(segment.buffer, segment.byteOffset, segment.byteLength).toString('hex');
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

/** The call that a header belongs to. The item's key has these fields, so the header omits them. */
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

/** The content of a header: a start, an end, or both. */
export interface HeaderContent {
  readonly start: StartHeader | null;
  readonly end: EndHeader | null;
  /** As in {@link CallHeader}. Without a start they are all that is known of the call. */
  readonly earlyTraces?: readonly string[] | undefined;
}

const packTraces = (traces: readonly string[] | undefined): PackedId[][] =>
  traces && traces.length > 0 ? [traces.map((trace) => packId(trace, []))] : [];

const unpackTraces = (packed: PackedId[] | undefined): Pick<HeaderContent, 'earlyTraces'> =>
  packed ? { earlyTraces: packed.flatMap((trace) => unpackId(trace, []) ?? []) } : {};

/** Packs a header for the attribute `h`. Times are microseconds, sizes are bytes. */
export const packHeader = ({ start, end, earlyTraces }: HeaderContent, owner: HeaderOwner): Uint8Array =>
  encodeMessagePack([
    version,
    start && trimNulls(packStart(start, owner)),
    end && trimNulls(packEnd(end, start)),
    ...packTraces(earlyTraces),
  ]);

/**
 * Unpacks the attribute `h`.
 *
 * @throws Error if a later release wrote its version
 */
export const unpackHeader = (bytes: Uint8Array, owner: HeaderOwner): HeaderContent => {
  const [found, startFields, endFields, traces] = decodeMessagePack(bytes) as [
    number,
    unknown[] | null,
    unknown[] | null,
    PackedId[]?,
  ];
  if (!(found >= oldestVersion && found <= version))
    throw new Error(`a header of version ${found}: this release reads ${oldestVersion} to ${version}`);
  const start = startFields && unpackStart(startFields, owner);
  return { start, end: endFields && unpackEnd(endFields, start), ...unpackTraces(traces) };
};

/** A stored part of a call. */
type StoredContent = HeaderContent & { readonly part: Part };

/**
 * Folds the stored parts of one call, in any order. An end beside the start overrides one by
 * itself. Writers ensure that the valid end lies there, so a reader of the start, from the table or
 * an index, knows whether to look up another.
 *
 * @returns null for a call without a start, which is not visible
 */
export const foldHeader = (
  { projectId, id }: Pick<HeaderOwner, 'projectId' | 'id'>,
  parts: readonly StoredContent[],
): CallHeader | null => {
  const { start, earlyTraces } = parts.find((part) => part.start) ?? {};
  if (!start) return null;
  const beside = parts.find(({ part }) => part === 'S')?.end ?? null;
  const alone = parts.find(({ part }) => part === 'E')?.end ?? null;
  const end = beside ?? alone;
  return { projectId, id, start, end, endPart: beside ? 'S' : 'E', ...(earlyTraces && { earlyTraces }) };
};

/** Does what {@link foldHeader} does, and keeps the payloads that the parts hold. */
export const foldCall = (
  call: Pick<HeaderOwner, 'projectId' | 'id'>,
  parts: readonly (StoredContent & {
    readonly inline: Uint8Array | undefined;
    readonly startCopy?: Uint8Array | undefined;
  })[],
): CallHeader | null => {
  const header = foldHeader(call, parts);
  const inline = parts.flatMap((part) => (part.inline ? [[part.part, part.inline] as const] : []));
  const startCopy = parts.find(({ start }) => start)?.startCopy;
  if (!header || (inline.length === 0 && !startCopy)) return header;
  return {
    ...header,
    ...(inline.length > 0 && { inline: new Map(inline) }),
    ...(startCopy && { startCopy }),
  };
};
