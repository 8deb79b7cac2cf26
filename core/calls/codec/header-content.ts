import type { ProjectId, WireNames } from '../../wire/index.ts';
import type { EndHeader, EndStatus, StartHeader } from '../model.ts';

/** The call that a header belongs to. The item's key has these fields, so the header omits them. */
export interface HeaderOwner {
  readonly projectId: ProjectId;
  readonly id: string;
  readonly names: WireNames;
}

/** The content of a header: a start, an end, or both. */
export interface HeaderContent {
  readonly start: StartHeader | null;
  readonly end: EndHeader | null;
  /** As in `CallHeader`. Without a start they are all that is known of the call. */
  readonly earlyTraces?: readonly string[] | undefined;
}

/** What a ref to an op of the call's own project begins with. */
export const ownOpPrefix = ({ projectId, names }: Pick<HeaderOwner, 'projectId' | 'names'>): string =>
  `${names.refScheme}${projectId}/op/`;

/** Stored headers hold the places: append only, never change. */
const statuses: readonly EndStatus[] = ['success', 'error', 'descendant_error'];

/** The place of a status, from 0 to 3. */
export const placeOf = (status: EndStatus): number => statuses.indexOf(status);

/**
 * Undoes {@link placeOf}.
 *
 * @throws Error if a later release wrote the place
 */
export const statusAt = (place: unknown): EndStatus => {
  const status = statuses[Number(place)];
  if (status === undefined) throw new Error(`a header with the status ${String(place)}`);
  return status;
};
