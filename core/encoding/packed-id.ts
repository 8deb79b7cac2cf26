import { packUuid, unpackUuid } from './uuid.ts';

/**
 * An id within a packed header: the index of an equal id that the reader knows already, the bytes
 * of a canonical UUID, or else text.
 */
export type PackedId = Uint8Array | number | string | null;

/**
 * Packs an id.
 *
 * @param known ids that the reader knows before this one; the first equal one counts
 */
export const packId = (id: string | null, known: readonly (string | null)[]): PackedId => {
  if (id === null) return null;
  const index = known.indexOf(id);
  return index < 0 ? (packUuid(id) ?? id) : index;
};

/**
 * Undoes {@link packId}.
 *
 * @param known the same ids as when it was packed, in the same order
 */
export const unpackId = (packed: PackedId, known: readonly (string | null)[]): string | null => {
  if (typeof packed === 'number') return known[packed] ?? null;
  return packed instanceof Uint8Array ? unpackUuid(packed) : packed;
};
