import { decodeMessagePack, type PackedId, unpackId } from '../../../foundations/encoding/index.ts';
import { isJsonObject, type JsonValue } from '../../../foundations/wire/index.ts';
import type { EndHeader, PayloadPointer, StartHeader } from '../model.ts';
import { type HeaderContent, type HeaderOwner, ownOpPrefix, statusAt } from './header-content.ts';
import { nameAt } from './usage-names.ts';

/*
 * Headers of versions 1 and 2, which are stored and only read. Each is one MessagePack list,
 * [version, start | null, end | null, early traces if there are any]. Start and end are lists, as
 * below.
 */

/** The first byte of a MessagePack list of three; one of four is the next. */
const [listOfThree, listOfFour] = [0x93, 0x94];

/** Whether a header begins as one of versions 1 and 2 does. */
export const isListHeader = ([first]: Uint8Array): boolean => first === listOfThree || first === listOfFour;

/**
 * Replaces the scheme and project of a ref into the call's own project. No printable name starts
 * with it.
 */
const ownOp = '\u0001';
/** A segment is the bytes of its name, null for none, or this for the start's segment. */
const sameSegment = 0;

const unpackSegment = (segment: unknown, start: PayloadPointer | undefined): string | null => {
  if (segment === sameSegment) return start?.segment ?? null;
  if (!(segment instanceof Uint8Array)) return null;
  return Buffer.from(segment.buffer, segment.byteOffset, segment.byteLength).toString('hex');
};

/** A null offset is the end of the start's block. */
const unpackPointer = (
  [segment, offset, length]: readonly [unknown, unknown, unknown],
  start?: PayloadPointer,
): PayloadPointer => ({
  segment: unpackSegment(segment, start),
  offset: offset === null && start ? start.offset + start.length : Number(offset),
  length: Number(length),
});

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

/** An object is a list of alternating names and values. Common names are numbers. */
const unpackValue = (packed: unknown): JsonValue => {
  if (!Array.isArray(packed)) return packed as JsonValue;
  const entries: [string, JsonValue][] = [];
  for (let i = 0; i < packed.length; i += 2) {
    const key: unknown = packed[i];
    entries.push([typeof key === 'number' ? nameAt(key) : String(key), unpackValue(packed[i + 1])]);
  }
  // Unlike assignment, this makes `__proto__` a field too.
  return Object.fromEntries(entries);
};

const unpackUsage = (packed: unknown): EndHeader['usage'] => {
  if (packed === true) return true;
  const usage = unpackValue(packed);
  return isJsonObject(usage) ? usage : null;
};

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

const unpackTraces = (packed: PackedId[] | undefined): Pick<HeaderContent, 'earlyTraces'> =>
  packed ? { earlyTraces: packed.flatMap((trace) => unpackId(trace, []) ?? []) } : {};

/**
 * Unpacks a header of version 1 or 2. Ends of version 1 repeated the location of the start's
 * payload, and its usage had all names.
 *
 * @throws Error if it is of another version
 */
export const unpackListHeader = (bytes: Uint8Array, owner: HeaderOwner): HeaderContent => {
  const [found, startFields, endFields, traces] = decodeMessagePack(bytes) as [
    number,
    unknown[] | null,
    unknown[] | null,
    PackedId[]?,
  ];
  if (found !== 1 && found !== 2) throw new Error(`a header that is a list of version ${found}`);
  const start = startFields && unpackStart(startFields, owner);
  return { start, end: endFields && unpackEnd(endFields, start), ...unpackTraces(traces) };
};
