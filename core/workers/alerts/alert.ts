import type { Alert } from '../../../api/alerts.ts';
import { alertClass } from '../../../api/shared/classes.ts';
import type { RequestBudget, Store } from '../../../foundations/storage/index.ts';
import type { JsonObject, ProjectId } from '../../../foundations/wire/index.ts';
import { readClass } from '../../records/objects/index.ts';

/** The latest version of an alert. */
export interface LoadedAlert {
  readonly projectId: ProjectId;
  readonly objectId: string;
  readonly digest: string;
  readonly alert: Alert;
}

/** Parses the value of an alert; undefined for a value that is none. */
export type ParseAlert = (value: JsonObject) => Alert | undefined;

/**
 * Reads the alerts of a project, paused ones included, by their ids.
 *
 * @param objectIds which; null for all
 */
export const readAlerts = async (
  objects: Store,
  projectId: ProjectId,
  objectIds: readonly string[] | null,
  parse: ParseAlert,
  budget: RequestBudget,
): Promise<LoadedAlert[]> => {
  const found = await readClass(objects, projectId, alertClass, objectIds, budget);
  return found.flatMap(({ header: { objectId, digest }, value }): LoadedAlert[] => {
    const alert = parse(value);
    return alert ? [{ projectId, objectId, digest, alert }] : [];
  });
};
