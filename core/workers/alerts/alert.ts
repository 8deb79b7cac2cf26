import { type Alert, alertClass } from '../../../api/alerts.ts';
import { everyVersion } from '../../../api/objects.ts';
import type { RequestBudget, Store } from '../../../foundations/storage/index.ts';
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type ProjectId,
  parseJson,
} from '../../../foundations/wire/index.ts';
import { findAll, ownClassOf, readValues, type VersionHeader } from '../../records/objects/index.ts';

/** The latest version of an alert. */
export interface LoadedAlert {
  readonly projectId: ProjectId;
  readonly objectId: string;
  readonly digest: string;
  readonly alert: Alert;
}

/** Parses the value of an alert in the dialect of the deployment; undefined for a value that is none. */
export type ParseAlert = (value: JsonObject) => Alert | undefined;

/**
 * Reads the alerts of a project, paused ones included, by their ids.
 *
 * @param objectIds which; null for all
 * @throws ServiceError 503 when storage does not give them in time
 */
export const readAlerts = async (
  objects: Store,
  projectId: ProjectId,
  objectIds: readonly string[] | null,
  parse: ParseAlert,
  budget: RequestBudget,
): Promise<LoadedAlert[]> => {
  const filter = { ...everyVersion, latestOnly: true, objectIds: objectIds && [...objectIds] };
  const headers: VersionHeader[] = [];
  for await (const batch of findAll(objects, { projectId, filter }, 'ascending', null, budget))
    headers.push(...batch.flatMap(({ header }) => (header.baseObjectClass === alertClass ? [header] : [])));
  const found = headers.map((header) => ({ header, packed: undefined }));
  const values = await readValues(objects, found, budget);
  return headers.flatMap(({ objectId, digest }, i): LoadedAlert[] => {
    const value = parseJson(values[i] ?? 'null') as JsonValue;
    const alert = ownClassOf(value) === alertClass && isJsonObject(value) ? parse(value) : undefined;
    return alert ? [{ projectId, objectId, digest, alert }] : [];
  });
};
