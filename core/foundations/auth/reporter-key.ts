import { isJsonObject, type Micros, type ProjectId } from '../wire/index.ts';
import type { KeyStore } from './authenticate.ts';
import { formatKey, type Key, makeKey, parseKey } from './key.ts';
import type { KeySecret, KeySecretValue } from './key-secret.ts';
import { newRecord } from './record.ts';
import { putKey } from './table.ts';

/** Who reports to which project. */
export interface Reporter {
  /** The user of the key: 1–128 printable characters without `:`. */
  readonly user: string;
  readonly project: ProjectId;
}

/** The value of `OTEL_EXPORTER_OTLP_HEADERS`. Some exporters take a space only as `%20`. */
const headersOf = (key: string, project: ProjectId): string =>
  `authorization=Bearer%20${key},project_id=${project}`;

const keyIn = (service: string, text: string): Key => {
  const value: unknown = JSON.parse(text);
  const key = isJsonObject(value) && typeof value.key === 'string' ? parseKey(service, value.key) : undefined;
  if (!key) throw new Error('the secret holds no key of this service: somebody else has written it');
  return key;
};

/** The key of a version, which is made if there is none. Whoever made it first has made it. */
const keyOfVersion = async (service: string, secret: KeySecret, version: string, project: ProjectId) => {
  const made = formatKey(makeKey(service));
  const value: KeySecretValue = { key: made, headers: headersOf(made, project) };
  const text = await secret.read(version);
  if (text !== undefined) return keyIn(service, text);
  if (await secret.write(version, value)) return keyIn(service, JSON.stringify(value));
  return keyIn(service, (await secret.read(version)) ?? '');
};

/**
 * Makes the key of a reporter: into the secret, and its digest into the table. The same request
 * again changes nothing and gives the same key.
 *
 * @param version what tells requests apart: 32 to 64 characters, also the secret's version
 * @param now microseconds since 1970
 * @returns the id of the key, which may write to the project
 * @throws RangeError for a bad user; Error if the secret holds something else, or the key was
 * revoked; the SDK's errors
 */
export const makeReporterKey = async (
  { service, table }: KeyStore,
  secret: KeySecret,
  version: string,
  { user, project }: Reporter,
  now: Micros,
): Promise<string> => {
  const key = await keyOfVersion(service, secret, version, project);
  const record = newRecord(key, { user, grants: [{ scope: project, role: 'write' }] }, now);
  if (!(await putKey(table, record))) throw new Error(`the key ${key.id} was revoked meanwhile`);
  return key.id;
};
