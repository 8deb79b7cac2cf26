import { ByteReader, ByteWriter, fromSignedTimeBytes } from '../../../foundations/encoding/index.ts';
import type { EndHeader, PayloadPointer, StartHeader } from '../model.ts';
import { type HeaderContent, type HeaderOwner, indexOfStatus, statusAt } from './header-content.ts';
import { readId, readLinks, writeId, writeLinks } from './linked-ids.ts';
import { readOp, writeOp } from './packed-op.ts';
import { readUsage, writeUsage } from './packed-usage.ts';

export type { HeaderContent, HeaderOwner } from './header-content.ts';

/*
 * A header is bytes: the version, a byte of flags, and perhaps another. Then comes what the flags
 * say is there, in the order of the code below. Every byte is stored in the item and in each of its
 * index rows, and thousands of rows are read at once. So what the row's key or another field has is
 * left out: the call's id and when it started. The place of the end's payload is left out if that
 * lies behind the start's. Numbers take as many bytes as they need, and ids and digests no letters.
 */

const version = 3;

const [hasStart, hasEnd, hasTraces, hasMore, hasUsage, usageApart] = [1, 2, 4, 32, 64, 128];
/** The end's status is two bits of the flags. */
const statusShift = 3;
const [hasDisplayName, hasRunId, hasRunStep, hasRunStepEnd, hasOwnPlace, hasOwnTime] = [1, 2, 4, 8, 16, 32];

const writePointer = (writer: ByteWriter, { segment, offset, length }: PayloadPointer): void => {
  writer.block(Buffer.from(segment ?? '', 'hex'));
  writer.count(offset);
  writer.count(length);
};

const readPointer = (reader: ByteReader): PayloadPointer => {
  const segment = reader.hex(reader.count());
  return { segment: segment === '' ? null : segment, offset: reader.count(), length: reader.count() };
};

/** Whether the end's payload lies right behind the start's. */
const isBehind = ({ payload: end }: EndHeader, { payload: start }: StartHeader): boolean =>
  end.segment === start.segment && end.offset === start.offset + start.length;

/** From start to end in microseconds. Between the ends of time there are more than numbers hold. */
const durationOf = (end: EndHeader, start: StartHeader): number => end.endedAt - start.startedAt;

const flagsOf = ({ start, end, earlyTraces }: HeaderContent, more: number): number =>
  (start ? hasStart : 0) |
  (end ? hasEnd | (indexOfStatus(end.status) << statusShift) : 0) |
  (earlyTraces && earlyTraces.length > 0 ? hasTraces : 0) |
  (more ? hasMore : 0) |
  (end && end.usage !== null ? (end.usage === true ? usageApart : hasUsage) : 0);

const moreFlagsOf = ({ start, end }: HeaderContent): number =>
  (start && start.displayName !== null ? hasDisplayName : 0) |
  (start && start.runId !== null ? hasRunId : 0) |
  (start && start.runStep !== null ? hasRunStep : 0) |
  (end && end.runStepEnd !== null ? hasRunStepEnd : 0) |
  (start && end && !isBehind(end, start) ? hasOwnPlace : 0) |
  (start && end && !Number.isSafeInteger(durationOf(end, start)) ? hasOwnTime : 0);

const writeStart = (writer: ByteWriter, start: StartHeader, owner: HeaderOwner): void => {
  writeLinks(writer, start, owner.id);
  writeOp(writer, start.opName, owner);
  writer.text(start.userId);
  writer.count(start.bytes);
  writePointer(writer, start.payload);
  if (start.displayName !== null) writer.text(start.displayName);
  if (start.runId !== null) writer.text(start.runId);
  if (start.runStep !== null) writer.integer(start.runStep);
};

const readStart = (reader: ByteReader, more: number, owner: HeaderOwner, startedAt: number): StartHeader => {
  const { parentId, traceId, turnId, threadId } = readLinks(reader, owner.id);
  const opName = readOp(reader, owner);
  const userId = reader.text();
  const bytes = reader.count();
  const payload = readPointer(reader);
  return {
    opName,
    displayName: more & hasDisplayName ? reader.text() : null,
    traceId,
    parentId,
    threadId,
    turnId,
    startedAt,
    userId,
    runId: more & hasRunId ? reader.text() : null,
    runStep: more & hasRunStep ? reader.integer() : null,
    bytes,
    payload,
  };
};

const writeEnd = (writer: ByteWriter, end: EndHeader, start: StartHeader | null, more: number): void => {
  writer.integer(start && !(more & hasOwnTime) ? durationOf(end, start) : end.endedAt);
  writer.count(end.bytes);
  if (start && !(more & hasOwnPlace)) writer.count(end.payload.length);
  else writePointer(writer, end.payload);
  if (end.runStepEnd !== null) writer.integer(end.runStepEnd);
  if (end.usage !== null && end.usage !== true) writeUsage(writer, end.usage);
};

const readEnd = (reader: ByteReader, flags: number, more: number, start: StartHeader | null): EndHeader => {
  const time = reader.integer();
  const bytes = reader.count();
  return {
    endedAt: start && !(more & hasOwnTime) ? start.startedAt + time : time,
    status: statusAt((flags >> statusShift) & 3),
    bytes,
    payload: start && !(more & hasOwnPlace) ? pointerBehind(start, reader.count()) : readPointer(reader),
    runStepEnd: more & hasRunStepEnd ? reader.integer() : null,
    usage: flags & hasUsage ? readUsage(reader) : flags & usageApart ? true : null,
  };
};

const pointerBehind = ({ payload: { segment, offset, length } }: StartHeader, ofEnd: number) => ({
  segment,
  offset: offset + length,
  length: ofEnd,
});

const readTraces = (reader: ByteReader, own: string): string[] =>
  Array.from({ length: reader.count() }, () => readId(reader, own));

const writer = /* @__PURE__ */ new ByteWriter();

/** Packs a header for the attribute `h`. Times are microseconds, sizes are bytes. */
export const packHeader = (content: HeaderContent, owner: HeaderOwner): Uint8Array => {
  const { start, end, earlyTraces = [] } = content;
  const more = moreFlagsOf(content);
  writer.clear();
  writer.byte(version);
  writer.byte(flagsOf(content, more));
  if (more) writer.byte(more);
  if (start) writeStart(writer, start, owner);
  if (end) writeEnd(writer, end, start, more);
  if (earlyTraces.length > 0) {
    writer.count(earlyTraces.length);
    for (const trace of earlyTraces) writeId(writer, trace, owner.id);
  }
  return writer.toBytes();
};

/**
 * Unpacks the attribute `h`.
 *
 * @param timeKey the sort key of the item or row, without a thread's id; it begins with the time at
 * which the call started
 * @throws Error if a later release wrote its version, or it is damaged
 */
export const unpackHeader = (bytes: Uint8Array, owner: HeaderOwner, timeKey: Uint8Array): HeaderContent => {
  const reader = new ByteReader(bytes);
  const found = reader.byte();
  if (found !== version) throw new Error(`a header of version ${found}: this release reads ${version}`);
  const flags = reader.byte();
  const more = flags & hasMore ? reader.byte() : 0;
  const start = flags & hasStart ? readStart(reader, more, owner, startTimeOf(timeKey)) : null;
  const end = flags & hasEnd ? readEnd(reader, flags, more, start) : null;
  const earlyTraces = flags & hasTraces ? readTraces(reader, owner.id) : undefined;
  if (!reader.isDone) throw new Error('a damaged header: it goes on behind its end');
  return { start, end, ...(earlyTraces && { earlyTraces }) };
};

/** The bytes of a time at the beginning of a sort key. */
const timeLength = 7;

const startTimeOf = (timeKey: Uint8Array): number => {
  if (timeKey.length < timeLength) throw new Error('a header of a start without its sort key');
  return fromSignedTimeBytes(timeKey);
};
