import { createHash, randomBytes, randomInt, timingSafeEqual } from 'node:crypto';

/** An API key in its parts; as text it is `<service>_<id>_<secret>`. */
export interface Key {
  /** The service's name, e.g. `svc`. */
  readonly service: string;
  /** 16 of `0-9a-z`: names the key in the table and in logs. Not a secret. */
  readonly id: string;
  /** 64 lower-case hex digits, so 256 bits. */
  readonly secret: string;
}

const idLength = 16;
const idAlphabet = '0123456789abcdefghijklmnopqrstuvwxyz';
const secretBytes = 32;
const idAndSecret = /^([0-9a-z]{16})_([0-9a-fA-F]{64})$/;
const keyId = /^[0-9a-z]{16}$/;

/** Whether the text is a key's id: 16 of `0-9a-z`. */
export const isKeyId = (text: string): boolean => keyId.test(text);

/**
 * Makes a key from the system's secure random source. `randomInt` is unbiased; a byte modulo 36
 * would not be.
 */
export const makeKey = (service: string): Key => ({
  service,
  id: Array.from({ length: idLength }, () => idAlphabet[randomInt(idAlphabet.length)]).join(''),
  secret: randomBytes(secretBytes).toString('hex'),
});

/** The key as its holder sends it: `<service>_<id>_<secret>`. */
export const formatKey = (key: Key): string => `${key.service}_${key.id}_${key.secret}`;

/**
 * Parses `<service>_<id>_<secret>`. The case of hex digits does not matter.
 *
 * @returns the key; undefined if the text is not a key of this service
 */
export const parseKey = (service: string, text: string): Key | undefined => {
  const prefix = `${service}_`;
  if (!text.startsWith(prefix)) return undefined;
  const [, id, secret] = idAndSecret.exec(text.slice(prefix.length)) ?? [];
  if (id === undefined || secret === undefined) return undefined;
  return { service, id, secret: secret.toLowerCase() };
};

/**
 * The SHA-256 of the whole key, 32 bytes. It is stored instead of the key.
 *
 * The id is part of it, so that the digest of one record is of no use in another. A slow hash would
 * add nothing to 256 random bits.
 */
export const digestKey = (key: Key): Uint8Array =>
  // Not a Buffer, so that it equals what storage returns.
  new Uint8Array(createHash('sha256').update(formatKey(key)).digest());

/** As long as a digest, and the digest of no key. */
const noDigest = new Uint8Array(32);

/**
 * Whether the digest is the key's.
 *
 * It takes the same time for every digest, and for none at all (an unknown id). So nobody learns
 * anything from the time that a refusal takes.
 */
export const matchesDigest = (key: Key, digest: Uint8Array | undefined): boolean => {
  const equal = timingSafeEqual(digestKey(key), digest ?? noDigest);
  return equal && digest !== undefined;
};
