import { type HeaderAttribute, headerAttributes } from '../../../api/shared/header-fields.ts';
import {
  ByteReader,
  ByteWriter,
  fromSignedTimeBytes,
  packUuid,
} from '../../../foundations/encoding/index.ts';
import { keysTo, valueAt } from '../../../foundations/expression/index.ts';
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type ProjectId,
  refScheme,
} from '../../../foundations/wire/index.ts';
import {
  beginnings,
  readVersions,
  startAttributes,
  statuses,
  usageNames,
  words,
  writtenVersion,
} from './header-format.ts';
import type {
  CallHeader,
  CallPart,
  EndHeader,
  EndStatus,
  PayloadPointer,
  SpanRole,
  StartAttributes,
  StartHeader,
} from './model.ts';

/** The call that a header belongs to. The item's key has these fields, so the header omits them. */
interface HeaderOwner {
  readonly projectId: ProjectId;
  readonly id: string;
}

/** The content of a header: a start, an end, or both. */
export interface HeaderContent {
  readonly start: StartHeader | null;
  readonly end: EndHeader | null;
  /** As in `CallHeader`. Without a start they are all that is known of the call. */
  readonly earlyTraces?: readonly string[] | undefined;
}

/** What a ref to an op of the call's own project begins with. */
const ownOpPrefix = ({ projectId }: Pick<HeaderOwner, 'projectId'>): string => `${refScheme}${projectId}/op/`;

/** @throws Error if a later release wrote the index */
const statusAt = (index: number): EndStatus => {
  const status = statuses.read[index];
  if (status === undefined) throw new Error(`a header with the status ${index}`);
  return status;
};

/*
 * A header is bytes: the version, a byte of flags, and perhaps a count of further ones. Then comes what the flags
 * say is there, in the order of the code below. Every byte is stored in the item and in each of its
 * index rows, and thousands of rows are read at once. So what the row's key or another field has is
 * left out: the call's id and when it started. The place of the end's payload is left out if that
 * lies behind the start's. Numbers take as many bytes as they need, and ids and digests no letters.
 */

const hasStart = 1;
const hasEnd = 2;
const hasTraces = 4;
const hasMore = 32;
const hasUsage = 64;
const usageApart = 128;
/** The end's status is two bits of the flags. */
const statusShift = 3;
const hasDisplayName = 1;
const hasRunId = 2;
const hasRunStep = 4;
const hasRunStepEnd = 8;
const hasOwnPlace = 16;
const hasOwnTime = 32;
const hasAttributes = 64;
const isJudges = 128;
const hasWaited = 256;
const hasSpan = 512;

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
const computeDuration = (end: EndHeader, start: StartHeader): number => end.endedAt - start.startedAt;

const toFlags = ({ start, end, earlyTraces }: HeaderContent, more: number): number =>
  (start ? hasStart : 0) |
  (end ? hasEnd | (statuses.written.indexOf(end.status) << statusShift) : 0) |
  (earlyTraces && earlyTraces.length > 0 ? hasTraces : 0) |
  (more ? hasMore : 0) |
  (end && end.usage !== null ? (end.usage === true ? usageApart : hasUsage) : 0);

const toMoreFlags = ({ start, end }: HeaderContent): number =>
  (start && start.displayName !== null ? hasDisplayName : 0) |
  (start && start.runId !== null ? hasRunId : 0) |
  (start && start.runStep !== null ? hasRunStep : 0) |
  (start && toFieldBits(start.attributes) ? hasAttributes : 0) |
  (start?.isJudges ? isJudges : 0) |
  (start?.span ? hasSpan : 0) |
  (end && end.runStepEnd !== null ? hasRunStepEnd : 0) |
  (end && end.waited !== null ? hasWaited : 0) |
  (start && end && !isBehind(end, start) ? hasOwnPlace : 0) |
  (start && end && !Number.isSafeInteger(computeDuration(end, start)) ? hasOwnTime : 0);

const writeStart = (writer: ByteWriter, start: StartHeader, owner: HeaderOwner): void => {
  writeLinks(writer, start, owner.id);
  writeOp(writer, start.opName, owner);
  writer.text(start.userId);
  writer.count(start.bytes);
  writePointer(writer, start.payload);
  if (start.displayName !== null) writer.text(start.displayName);
  if (start.runId !== null) writer.text(start.runId);
  if (start.runStep !== null) writer.integer(start.runStep);
  if (toFieldBits(start.attributes)) writeAttributes(writer, start.attributes);
  if (start.span) writeSpan(writer, start.span, start);
};

const readStart = (reader: ByteReader, more: number, owner: HeaderOwner, startedAt: number): StartHeader => {
  const { parentId, traceId, turnId, threadId } = readLinks(reader, owner.id);
  const opName = readOp(reader, owner);
  const userId = reader.text();
  const bytes = reader.count();
  const payload = readPointer(reader);
  const displayName = more & hasDisplayName ? reader.text() : null;
  const runId = more & hasRunId ? reader.text() : null;
  const runStep = more & hasRunStep ? reader.integer() : null;
  const attributes = more & hasAttributes ? readAttributes(reader) : noAttributes;
  return {
    opName,
    displayName,
    traceId,
    parentId,
    threadId,
    turnId,
    startedAt,
    userId,
    runId,
    runStep,
    attributes,
    ...(more & isJudges ? { isJudges: true } : {}),
    ...(more & hasSpan ? { span: readSpan(reader, { threadId, attributes }) } : {}),
    bytes,
    payload,
  };
};

const writeEnd = (writer: ByteWriter, end: EndHeader, start: StartHeader | null, more: number): void => {
  writer.integer(start && !(more & hasOwnTime) ? computeDuration(end, start) : end.endedAt);
  writer.count(end.bytes);
  if (start && !(more & hasOwnPlace)) writer.count(end.payload.length);
  else writePointer(writer, end.payload);
  if (end.runStepEnd !== null) writer.integer(end.runStepEnd);
  if (end.usage !== null && end.usage !== true) writeUsage(writer, end.usage);
  if (end.waited !== null) writer.count(end.waited === true ? 0 : end.waited + 1);
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
    waited: more & hasWaited ? readWaited(reader) : null,
  };
};

/** The time that a call waited, and one more; 0 if it is not known. */
const readWaited = (reader: ByteReader): number | true => {
  const count = reader.count();
  return count === 0 ? true : count - 1;
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
  const more = toMoreFlags(content);
  writer.clear();
  writer.byte(writtenVersion);
  writer.byte(toFlags(content, more));
  if (more) writer.count(more);
  if (start) writeStart(writer, start, owner);
  if (end) writeEnd(writer, end, start, more);
  if (earlyTraces.length > 0) {
    writer.count(earlyTraces.length);
    for (const trace of earlyTraces) writeId(writer, trace, owner.id);
  }
  return writer.toBytes();
};

/** Reads what is behind the version. */
type Reader = (reader: ByteReader, owner: HeaderOwner, timeKey: Uint8Array) => HeaderContent;

const readContent: Reader = (reader, owner, timeKey) => {
  const flags = reader.byte();
  const more = flags & hasMore ? reader.count() : 0;
  const start = flags & hasStart ? readStart(reader, more, owner, readStartTime(timeKey)) : null;
  const end = flags & hasEnd ? readEnd(reader, flags, more, start) : null;
  const earlyTraces = flags & hasTraces ? readTraces(reader, owner.id) : undefined;
  return { start, end, ...(earlyTraces && { earlyTraces }) };
};

const readers: Readonly<Record<(typeof readVersions)[number], Reader>> = { 3: readContent };

const findReader = (version: number): Reader | undefined =>
  (readers as Readonly<Record<number, Reader | undefined>>)[version];

/**
 * Unpacks the attribute `h`.
 *
 * @param timeKey the sort key of the item or row, without a thread's id; it begins with the time at
 * which the call started
 * @throws Error if its version is none that this release reads, or it is damaged
 */
export const unpackHeader = (bytes: Uint8Array, owner: HeaderOwner, timeKey: Uint8Array): HeaderContent => {
  const reader = new ByteReader(bytes);
  const version = reader.byte();
  const read = findReader(version);
  if (!read) throw new Error(`a header of version ${version}: this release reads ${readVersions.join(', ')}`);
  const content = read(reader, owner, timeKey);
  if (!reader.isDone) throw new Error('a damaged header: it goes on behind its end');
  return content;
};

/** The bytes of a time at the beginning of a sort key. */
const timeLength = 7;

const readStartTime = (timeKey: Uint8Array): number => {
  if (timeKey.length < timeLength) throw new Error('a header of a start without its sort key');
  return fromSignedTimeBytes(timeKey);
};

/** A stored part of a call. */
type StoredContent = HeaderContent & { readonly part: CallPart };

/**
 * Folds the stored parts of one call, in any order. An end beside the start overrides one by
 * itself. Writers ensure that the valid end lies there. So a reader of the start, from the table or
 * an index, knows whether to look up another.
 *
 * @returns null for a call without a start, which is not visible
 */
export const foldHeader = (
  { projectId, id }: Pick<HeaderOwner, 'projectId' | 'id'>,
  parts: readonly StoredContent[],
): CallHeader | null => {
  const [first] = parts;
  // Most calls are one part, and thousands are read at once.
  if (parts.length === 1 && first?.start && first.part === 'S' && first.end && !first.earlyTraces)
    return { projectId, id, start: first.start, end: first.end, endPart: 'S' };
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
  parts: readonly (StoredContent & { readonly inline: Uint8Array | undefined })[],
): CallHeader | null => {
  const header = foldHeader(call, parts);
  if (!parts.some((part) => part.inline)) return header;
  const inline = parts.flatMap((part) => (part.inline ? [[part.part, part.inline] as const] : []));
  return header && inline.length > 0 ? { ...header, inline: new Map(inline) } : header;
};

/*
 * The ids of a start: parent, trace, turn and thread. A first byte says in two bits each where the
 * id is: nowhere, in the call's id, in its parent's, or apart. Ids apart follow in this order, each
 * behind a byte that says how it is packed. Clients make the ids of a trace at one time, and those
 * of spans begin alike. So what an id shares with the call's own is left out.
 */

/** The ids of a start that are not its own. */
type LinkedIds = Pick<StartHeader, 'parentId' | 'traceId' | 'turnId' | 'threadId'>;

const nowhere = 0;
const inCall = 1;
const inParent = 2;
const apart = 3;

/** How an id is packed. Stored headers hold the places: append only. */
const asText = 0;
const asUuid = 1;
const asNearUuid = 2;
const asHex = 3;
const asNearHex = 4;
/** What a near UUID shares with the call's id: the upper four of the six bytes with its time. */
const nearUuid = 8;
/** What near hex digits share with the call's id: for spans, half of their trace's id. */
const nearHex = 16;

const hexDigits = /^(?:[0-9a-f]{2}){4,128}$/;

const isNear = (id: string, own: string, digits: number): boolean =>
  own.length >= digits && id.slice(0, digits) === own.slice(0, digits);

/** Writes an id by itself, but for what it shares with another that its reader knows. */
const writeId = (writer: ByteWriter, id: string, own: string): void => {
  const uuid = packUuid(id);
  if (uuid) {
    const near = isNear(id, own, nearUuid);
    writer.byte(near ? asNearUuid : asUuid);
    writer.bytes(near ? uuid.subarray(nearUuid / 2) : uuid);
  } else if (hexDigits.test(id)) {
    const near = isNear(id, own, nearHex);
    writer.byte(near ? asNearHex : asHex);
    writer.block(Buffer.from(near ? id.slice(nearHex) : id, 'hex'));
  } else {
    writer.byte(asText);
    writer.text(id);
  }
};

/**
 * Undoes {@link writeId}.
 *
 * @throws Error if a later release packed it
 */
const readId = (reader: ByteReader, own: string): string => {
  const kind = reader.byte();
  if (kind === asNearUuid) return reader.uuid(own.slice(0, nearUuid));
  if (kind === asUuid) return reader.uuid();
  if (kind === asText) return reader.text();
  if (kind === asHex) return reader.hex(reader.count());
  if (kind === asNearHex) return own.slice(0, nearHex) + reader.hex(reader.count());
  throw new Error(`a header with an id of the unknown kind ${kind}`);
};

/** Writes the ids of a call's start. */
const writeLinks = (writer: ByteWriter, ids: LinkedIds, own: string): void => {
  const { parentId, traceId, turnId, threadId } = ids;
  const all = [parentId, traceId, turnId, threadId];
  const places = all.map((id, i) => {
    if (id === null) return nowhere;
    if (id === own) return inCall;
    return i > 0 && id === parentId ? inParent : apart;
  });
  writer.byte(places.reduce<number>((byte, place, i) => byte | (place << (2 * i)), 0));
  for (const [i, id] of all.entries()) if (id !== null && places[i] === apart) writeId(writer, id, own);
};

/** Undoes {@link writeLinks}. */
const readLinks = (reader: ByteReader, own: string): LinkedIds => {
  const places = reader.byte();
  const read = (place: number, parent: string | null): string | null => {
    if (place === nowhere) return null;
    if (place === apart) return readId(reader, own);
    return place === inCall ? own : parent;
  };
  const parentId = read(places & 3, null);
  const traceId = read((places >> 2) & 3, parentId) ?? own;
  const turnId = read((places >> 4) & 3, parentId);
  return { parentId, traceId, turnId, threadId: read(places >> 6, parentId) };
};

/*
 * What a span is: a byte of flags, and the thread that it names if it is in another. The user that it
 * was given is that of its attributes.
 */

const isRun = 1;
const isPlain = 2;
const isRemote = 4;
const namesThread = 8;
const namesOther = 16;
const isGiven = 32;
const pauses = 64;

/** What a header has of a call anyway that a span's role repeats. */
type AroundSpan = Pick<StartHeader, 'threadId' | 'attributes'>;

const writeSpan = (writer: ByteWriter, span: SpanRole, { threadId }: AroundSpan): void => {
  const names = span.threadId === null ? 0 : span.threadId === threadId ? namesThread : namesOther;
  writer.byte(
    (span.isRun ? isRun : 0) |
      (span.isPlain ? isPlain : 0) |
      (span.hasRemoteParent ? isRemote : 0) |
      (span.givenUser === null ? 0 : isGiven) |
      (span.pauses ? pauses : 0) |
      names,
  );
  if (span.threadId !== null && names === namesOther) writer.text(span.threadId);
};

const readSpan = (reader: ByteReader, { threadId, attributes }: AroundSpan): SpanRole => {
  const flags = reader.byte();
  const user = attributes['user.id'];
  return {
    isRun: (flags & isRun) !== 0,
    isPlain: (flags & isPlain) !== 0,
    hasRemoteParent: (flags & isRemote) !== 0,
    pauses: (flags & pauses) !== 0,
    threadId: flags & namesOther ? reader.text() : flags & namesThread ? threadId : null,
    givenUser: flags & isGiven && typeof user === 'string' ? user : null,
  };
};

/** The longest text that a header holds of an attribute, in UTF-16 code units. */
const maxText = 128;

/** Whether a header holds a text of an attribute as it is: it is UTF-8, which has no lone surrogates. */
export const fitsHeader = (text: string): boolean => text.length <= maxText && text.isWellFormed();

/** The attributes of a call that has none that headers hold. */
const noAttributes: StartAttributes = {};

const toPath = (name: HeaderAttribute): readonly string[] => name.split('.');
const paths = startAttributes.read.map((name) => [name, toPath(name)] as const);
const writtenPaths = paths.slice(0, startAttributes.written.length);

/** What a header holds of a start's attributes. */
export const attributesForHeader = (attributes: JsonObject): StartAttributes => {
  const found: { -readonly [field in keyof StartAttributes]: StartAttributes[field] } = {};
  const dotted: HeaderAttribute[] = [];
  for (const [name, path] of writtenPaths) {
    const keys = keysTo(attributes, path);
    if (!keys) continue;
    const value = valueAt(attributes, keys) ?? null;
    const fits = value === null || (typeof value === 'string' && fitsHeader(value));
    found[name] = fits ? value : true;
    if (keys.length < path.length) dotted.push(name);
  }
  if (dotted.length > 0) found.dotted = dotted;
  return found;
};

/** The attributes of a header with the user that a span was given. */
export const withGivenUser = (attributes: StartAttributes, user: string | null): StartAttributes =>
  user === null ? attributes : { ...attributes, 'user.id': user };

const byPath: ReadonlyMap<string, HeaderAttribute> = new Map(
  headerAttributes.map((name) => [`attributes.${name}`, name]),
);

/** The attribute in headers that a dotted path leads to; undefined for any other path. */
export const headerAttributeAt = (path: string): HeaderAttribute | undefined => byPath.get(path);

/** The part of a call's attributes that its header holds, in their own shape. */
export const knownAttributes = ({ attributes }: StartHeader): JsonObject => {
  const known: JsonObject = {};
  for (const [name, [outer = name, inner]] of paths) {
    const value = attributes[name];
    if (value === undefined || value === true) continue;
    if (inner === undefined || attributes.dotted?.includes(name)) known[name] = value;
    else known[outer] = { ...(known[outer] as JsonObject | undefined), [inner]: value };
  }
  return known;
};

/*
 * Fields of a start's attributes. A first byte says which of the first four there are, in a bit each,
 * whether the user's key has a dot, and whether there are others. Those are named by a second byte, and
 * their keys with a dot by a third. Each field is a byte that says what it is, and behind it perhaps a
 * text.
 */

const firstFields = 4;
/** The bits of the first byte beside those of the fields. */
const userDotted = 16;
const hasOthers = 32;
/** The bit of the second byte beside those of the fields. */
const othersDotted = 64;

/** What the first byte of a field says; from `word` on it is a common word, by its number. */
const asOwnText = 0;
const asNull = 1;
const inPayload = 2;
const word = 3;
const asPackedUuid = 255;

const toBits = (has: (name: HeaderAttribute) => boolean): number =>
  headerAttributes.reduce((bits, name, i) => (has(name) ? bits | (1 << i) : bits), 0);

/** Which fields there are, in a bit each. */
const toFieldBits = (attributes: StartAttributes): number =>
  attributes === noAttributes ? 0 : toBits((name) => attributes[name] !== undefined);

const writeAttributes = (writer: ByteWriter, attributes: StartAttributes): void => {
  const { dotted = [] } = attributes;
  const fields = toFieldBits(attributes);
  const others = fields >> firstFields;
  const dots = toBits((name) => dotted.includes(name)) >> firstFields;
  writer.byte(
    (fields & (2 ** firstFields - 1)) |
      (dotted.includes('user.id') ? userDotted : 0) |
      (others === 0 ? 0 : hasOthers),
  );
  if (others !== 0) writer.byte(others | (dots === 0 ? 0 : othersDotted));
  if (dots !== 0) writer.byte(dots);
  for (const name of headerAttributes) {
    const value = attributes[name];
    if (value === undefined) continue;
    const number = words.written.indexOf(String(value));
    if (typeof value !== 'string') writer.byte(value === null ? asNull : inPayload);
    else if (number >= 0) writer.byte(word + number);
    else {
      const uuid = packUuid(value);
      writer.byte(uuid ? asPackedUuid : asOwnText);
      if (uuid) writer.bytes(uuid);
      else writer.text(value);
    }
  }
};

/**
 * Undoes {@link writeAttributes}.
 *
 * @throws Error if a later release wrote a word that this one does not know
 */
const readAttributes = (reader: ByteReader): StartAttributes => {
  const first = reader.byte();
  const others = first & hasOthers ? reader.byte() : 0;
  const dots = others & othersDotted ? reader.byte() : 0;
  const fields = (first & (2 ** firstFields - 1)) | ((others & (othersDotted - 1)) << firstFields);
  const attributes: { -readonly [field in keyof StartAttributes]: StartAttributes[field] } = {};
  for (const [i, name] of headerAttributes.entries()) {
    if (!(fields & (1 << i))) continue;
    const kind = reader.byte();
    if (kind === asOwnText) attributes[name] = reader.text();
    else if (kind === asNull) attributes[name] = null;
    else if (kind === inPayload) attributes[name] = true;
    else if (kind === asPackedUuid) attributes[name] = reader.uuid();
    else attributes[name] = wordAt(kind - word);
  }
  const isDotted = (first & userDotted ? 1 : 0) | (dots << firstFields);
  if (isDotted !== 0) attributes.dotted = headerAttributes.filter((_, i) => isDotted & (1 << i));
  return attributes;
};

/** @throws Error if a later release wrote the number */
const wordAt = (number: number): string => {
  const found = words.read[number];
  if (found === undefined) throw new Error(`a header with the unknown word ${number}`);
  return found;
};

/*
 * The name of an op, `<beginning><text>:<digest>`. A first byte says which of them is packed:
 *
 *   bit 0     it is a ref into the call's own project, whose scheme and project are left out
 *   bits 1-2  the digest: none | hex digits behind their number | 32 bytes of base64url
 *   bits 3-7  the beginning, by its place in the list below
 */

const ownFlag = 1;
const noDigest = 0;
const hexDigest = 1;
const base64urlDigest = 2;
/** The bytes of a SHA-256, which base64url writes in 43 characters. */
const sha256Length = 32;

/** Hex digits that are worth packing, in a number that fits into a byte. */
const hexTail = /:([0-9a-f]{16,255})$/;
const base64urlTail = /:([\w-]{43})$/;

interface Digest {
  readonly kind: number;
  readonly text: string;
  readonly bytes: Buffer;
}

/** The digest at the end of a name, if its bytes give it back. */
const parseDigest = (name: string): Digest | undefined => {
  const hex = hexTail.exec(name)?.[1];
  if (hex)
    return { kind: hexDigest, text: hex, bytes: Buffer.from(`${hex}0`.slice(0, evenLength(hex)), 'hex') };
  const text = base64urlTail.exec(name)?.[1];
  if (!text) return undefined;
  const bytes = Buffer.from(text, 'base64url');
  // The last character has room for two bits more than the bytes.
  return bytes.toString('base64url') === text ? { kind: base64urlDigest, text, bytes } : undefined;
};

const evenLength = ({ length }: string): number => length + (length % 2);

/** Writes the name of an op. */
const writeOp = (writer: ByteWriter, opName: string, owner: HeaderOwner): void => {
  const prefix = ownOpPrefix(owner);
  const isOwn = opName.startsWith(prefix);
  const name = isOwn ? opName.slice(prefix.length) : opName;
  const digest = parseDigest(name);
  const plain = digest ? name.slice(0, -digest.text.length - 1) : name;
  const beginning = Math.max(
    0,
    beginnings.written.findIndex((text) => text !== '' && plain.startsWith(text)),
  );
  writer.byte((isOwn ? ownFlag : 0) | ((digest?.kind ?? noDigest) << 1) | (beginning << 3));
  writer.text(plain.slice(beginnings.written[beginning]?.length));
  if (digest?.kind === hexDigest) writer.byte(digest.text.length);
  if (digest) writer.bytes(digest.bytes);
};

const readDigest = (reader: ByteReader, kind: number): string => {
  if (kind === noDigest) return '';
  if (kind === base64urlDigest) return `:${reader.base64url(sha256Length)}`;
  if (kind !== hexDigest) throw new Error(`a header whose op has a digest of the unknown kind ${kind}`);
  const digits = reader.byte();
  return `:${reader.hex(Math.ceil(digits / 2)).slice(0, digits)}`;
};

/**
 * Undoes {@link writeOp}.
 *
 * @throws Error if a later release wrote a beginning that this one does not know
 */
const readOp = (reader: ByteReader, owner: HeaderOwner): string => {
  const first = reader.byte();
  const beginning = beginnings.read[first >> 3];
  if (beginning === undefined) throw new Error(`a header whose op has the unknown beginning ${first >> 3}`);
  const text = reader.text();
  return `${first & ownFlag ? ownOpPrefix(owner) : ''}${beginning}${text}${readDigest(reader, (first >> 1) & 3)}`;
};

const numbers = new Map(usageNames.written.map((name, i) => [name, i]));

/** @throws Error if a later release wrote the number */
const nameAt = (number: number): string => {
  const name = usageNames.read[number];
  if (name === undefined) throw new Error(`a header whose usage has the unknown name ${number}`);
  return name;
};

/*
 * Most `summary.usage` values consist of the same few names, in each of the header's three or four
 * rows. So an object is a list of fields, each a byte for its name and then its value. What nearly
 * always holds takes that byte alone: one request, and a total that is the sum.
 */

/** What the first byte of a field says; from `named` on it is a common name, by its number. */
const lastField = 0;
const oneRequest = 1;
const sumOfTokens = 2;
const otherName = 3;
const named = 4;

/** What a value begins with, doubled. An odd count is a whole number, doubled and one more. */
const isNull = 0;
const isFalse = 1;
const isTrue = 2;
const isObject = 3;
const isList = 4;
const isText = 5;
const isDouble = 6;
/** From here on, twice a number is no safe integer. */
const maxDoubled = 2 ** 52;

const summedNames: ReadonlySet<string> = new Set([
  'prompt_tokens',
  'completion_tokens',
  'input_tokens',
  'output_tokens',
]);

type Fields = readonly (readonly [name: string, value: JsonValue])[];

/** As `Number` gives it, which stored headers have been summed by: NaN if there is no number. */
const toNumber = (value: JsonValue): number => {
  try {
    return Number(value);
  } catch {
    // An object with a field `toString`: it cannot be made a number of.
    return Number.NaN;
  }
};

const sumTokens = (fields: Fields): number =>
  fields.reduce((sum, [name, value]) => (summedNames.has(name) ? sum + toNumber(value) : sum), 0);

const writeNumber = (writer: ByteWriter, value: number): void => {
  if (Number.isSafeInteger(value) && value >= 0 && value < maxDoubled) writer.count(2 * value + 1);
  else {
    writer.count(2 * isDouble);
    writer.double(value);
  }
};

const writeValue = (writer: ByteWriter, value: JsonValue): void => {
  if (typeof value === 'number') writeNumber(writer, value);
  else if (typeof value === 'string') {
    writer.count(2 * isText);
    writer.text(value);
  } else if (Array.isArray(value)) {
    writer.count(2 * isList);
    writer.count(value.length);
    for (const item of value) writeValue(writer, item);
  } else if (isJsonObject(value)) {
    writer.count(2 * isObject);
    writeUsage(writer, value);
  } else if (value === null || typeof value === 'boolean') {
    writer.count(2 * (value === null ? isNull : value ? isTrue : isFalse));
  } else throw new Error('a header holds no exact numbers');
};

/** @param before the fields before it */
const writeField = (writer: ByteWriter, [name, value]: Fields[number], before: Fields): void => {
  const number = numbers.get(name);
  if (name === 'requests' && value === 1) writer.byte(oneRequest);
  else if (name === 'total_tokens' && value === sumTokens(before)) writer.byte(sumOfTokens);
  else {
    writer.byte(number === undefined ? otherName : named + number);
    if (number === undefined) writer.text(name);
    writeValue(writer, value);
  }
};

/** Writes the usage of a header. It has neither exact numbers nor lone surrogates. */
const writeUsage = (writer: ByteWriter, usage: JsonObject): void => {
  const fields = Object.entries(usage);
  for (const [i, field] of fields.entries()) writeField(writer, field, fields.slice(0, i));
  writer.byte(lastField);
};

const readValue = (reader: ByteReader): JsonValue => {
  const count = reader.count();
  if (count % 2 === 1) return (count - 1) / 2;
  switch (count / 2) {
    case isNull:
      return null;
    case isFalse:
    case isTrue:
      return count / 2 === isTrue;
    case isObject:
      return readUsage(reader);
    case isList:
      return Array.from({ length: reader.count() }, () => readValue(reader));
    case isText:
      return reader.text();
    case isDouble:
      return reader.double();
  }
  throw new Error(`a header whose usage has a value of the unknown kind ${count / 2}`);
};

/**
 * Undoes {@link writeUsage}.
 *
 * @throws Error if a later release wrote a name's number or a value
 */
const readUsage = (reader: ByteReader): JsonObject => {
  const usage: JsonObject = {};
  let sum = 0;
  for (let first = reader.byte(); first !== lastField; first = reader.byte()) {
    if (first === oneRequest) usage.requests = 1;
    else if (first === sumOfTokens) usage.total_tokens = sum;
    else {
      const name = first === otherName ? reader.text() : nameAt(first - named);
      const value = readValue(reader);
      if (summedNames.has(name)) sum += toNumber(value);
      if (name !== '__proto__') usage[name] = value;
      // An assignment would set the prototype.
      else
        Object.defineProperty(usage, name, { value, enumerable: true, writable: true, configurable: true });
    }
  }
  return usage;
};
