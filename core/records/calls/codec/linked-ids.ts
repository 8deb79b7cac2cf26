import {
  type ByteReader,
  type ByteWriter,
  packUuid,
  uuidOfHex,
} from '../../../foundations/encoding/index.ts';
import type { StartHeader } from '../model.ts';

/*
 * The ids of a start: parent, trace, turn and thread. A first byte says in two bits each where the
 * id is: nowhere, in the call's id, in its parent's, or apart. Ids apart follow in this order, each
 * behind a byte that says how it is packed. Clients make the ids of a trace at one time, and those
 * of spans begin alike. So what an id shares with the call's own is left out.
 */

/** The ids of a start that are not its own. */
export type LinkedIds = Pick<StartHeader, 'parentId' | 'traceId' | 'turnId' | 'threadId'>;

const [nowhere, inCall, inParent, apart] = [0, 1, 2, 3];

/** How an id is packed. Stored headers hold the places: append only. */
const [asText, asUuid, asNearUuid, asHex, asNearHex] = [0, 1, 2, 3, 4];
/** What a near UUID shares with the call's id: the upper four of the six bytes with its time. */
const nearUuid = 8;
/** What near hex digits share with the call's id: for spans, half of their trace's id. */
const nearHex = 16;

const uuidLength = 16;
const hexDigits = /^(?:[0-9a-f]{2}){4,128}$/;

const isNear = (id: string, own: string, digits: number): boolean =>
  own.length >= digits && id.slice(0, digits) === own.slice(0, digits);

/** Writes an id by itself, but for what it shares with another that its reader knows. */
export const writeId = (writer: ByteWriter, id: string, own: string): void => {
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
export const readId = (reader: ByteReader, own: string): string => {
  const kind = reader.byte();
  if (kind === asNearUuid) return uuidOfHex(own.slice(0, nearUuid) + reader.hex(uuidLength - nearUuid / 2));
  if (kind === asUuid) return uuidOfHex(reader.hex(uuidLength));
  if (kind === asText) return reader.text();
  if (kind === asHex) return reader.hex(reader.count());
  if (kind === asNearHex) return own.slice(0, nearHex) + reader.hex(reader.count());
  throw new Error(`a header with an id of the unknown kind ${kind}`);
};

/** Writes the ids of a call's start. */
export const writeLinks = (writer: ByteWriter, ids: LinkedIds, own: string): void => {
  const { parentId, traceId, turnId, threadId } = ids;
  const all = [parentId, traceId, turnId, threadId];
  const places = all.map((id, i) => {
    if (id === null) return nowhere;
    if (id === own) return inCall;
    return i > 0 && id === parentId ? inParent : apart;
  });
  writer.byte(places.reduce((byte, place, i) => byte | (place << (2 * i)), 0));
  for (const [i, id] of all.entries()) if (id !== null && places[i] === apart) writeId(writer, id, own);
};

/** Undoes {@link writeLinks}. */
export const readLinks = (reader: ByteReader, own: string): LinkedIds => {
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
