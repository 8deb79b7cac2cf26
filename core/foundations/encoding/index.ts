export * from './byte-stream.ts';
export * from './ids.ts';
export * from './key-bytes.ts';
export { decodeMessagePack, encodeMessagePack, pack, unpack } from './packing.ts';
