import { unpackUuid } from './uuid.ts';

/**
 * An id within a header of version 1 or 2. It is the index of an equal id that the reader knows
 * already, the bytes of a canonical UUID, or else text.
 */
export type PackedId = Uint8Array | number | string | null;

/**
 * Reads a packed id.
 *
 * @param known the ids that the writer knew before this one, in the same order
 */
export const unpackId = (packed: PackedId, known: readonly (string | null)[]): string | null => {
  if (typeof packed === 'number') return known[packed] ?? null;
  return packed instanceof Uint8Array ? unpackUuid(packed) : packed;
};
