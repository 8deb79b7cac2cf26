import type { ByteReader, ByteWriter } from '../../../foundations/encoding/index.ts';
import { type HeaderOwner, ownOpPrefix } from './header-content.ts';

/*
 * The name of an op, `<beginning><text>:<digest>`. A first byte says which of them is packed:
 *
 *   bit 0     it is a ref into the call's own project, whose scheme and project are left out
 *   bits 1-2  the digest: none | hex digits behind their number | 32 bytes of base64url
 *   bits 3-7  the beginning, by its place in the list below
 */

/**
 * How common names of integrations begin. Stored headers hold the places: append only, never
 * change, 32 at most. The first that fits is taken, so longer ones come first.
 */
const beginnings = [
  '',
  'openai.chat.completions.create',
  'openai.chat.completions.',
  'openai.responses.',
  'openai.embeddings.create',
  'openai.',
  'anthropic.Messages.create',
  'anthropic.',
  'langchain.Llm.',
  'langchain.Chain.',
  'langchain.',
  'llama_index.',
  'litellm.',
  'google.genai.models.',
  'BedrockRuntime.',
  'Evaluation.predict_and_score',
  'Evaluation.',
] as const;

const ownFlag = 1;
const [noDigest, hexDigest, base64urlDigest] = [0, 1, 2];
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
const digestOf = (name: string): Digest | undefined => {
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
export const writeOp = (writer: ByteWriter, opName: string, owner: HeaderOwner): void => {
  const prefix = ownOpPrefix(owner);
  const isOwn = opName.startsWith(prefix);
  const name = isOwn ? opName.slice(prefix.length) : opName;
  const digest = digestOf(name);
  const plain = digest ? name.slice(0, -digest.text.length - 1) : name;
  const beginning = Math.max(
    0,
    beginnings.findIndex((text) => text !== '' && plain.startsWith(text)),
  );
  writer.byte((isOwn ? ownFlag : 0) | ((digest?.kind ?? noDigest) << 1) | (beginning << 3));
  writer.text(plain.slice(beginnings[beginning]?.length));
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
export const readOp = (reader: ByteReader, owner: HeaderOwner): string => {
  const first = reader.byte();
  const beginning = beginnings[first >> 3];
  if (beginning === undefined) throw new Error(`a header whose op has the unknown beginning ${first >> 3}`);
  const text = reader.text();
  return `${first & ownFlag ? ownOpPrefix(owner) : ''}${beginning}${text}${readDigest(reader, (first >> 1) & 3)}`;
};
