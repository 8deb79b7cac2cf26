import { packUuid, unpackUuid } from './uuid.ts';

/**
 * An id within a packed header: bytes for a canonical UUID, a number for the id at that place of
 * the ids that the reader knows already, else its text.
 */
export type PackedId = Uint8Array | number | string | null;

/**
 * Packs an id.
 *
 * @param known ids that the reader knows before this one; equal ids become their first place
 */
export const packId = (id: string | null, known: readonly (string | null)[]): PackedId => {
  if (id === null) return null;
  const place = known.indexOf(id);
  return place < 0 ? (packUuid(id) ?? id) : place;
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
