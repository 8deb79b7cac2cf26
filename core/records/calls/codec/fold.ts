import type { CallHeader } from '../model.ts';
import type { HeaderContent, HeaderOwner } from './header-content.ts';
import type { Part } from './keys.ts';

/** A stored part of a call. */
type StoredContent = HeaderContent & { readonly part: Part };

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
  const inline = parts.flatMap((part) => (part.inline ? [[part.part, part.inline] as const] : []));
  return header && inline.length > 0 ? { ...header, inline: new Map(inline) } : header;
};
