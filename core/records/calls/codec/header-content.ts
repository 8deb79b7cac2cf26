import type { ProjectId, WireNames } from '../../../foundations/wire/index.ts';
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

/** Stored headers hold the indexes: append only, never change. */
const statuses: readonly EndStatus[] = ['success', 'error', 'descendant_error'];

/** The index of a status in a header, from 0 to 2. */
export const indexOfStatus = (status: EndStatus): number => statuses.indexOf(status);

/**
 * Undoes {@link indexOfStatus}.
 *
 * @throws Error if a later release wrote the index
 */
export const statusAt = (index: unknown): EndStatus => {
  const status = statuses[Number(index)];
  if (status === undefined) throw new Error(`a header with the status ${String(index)}`);
  return status;
};
