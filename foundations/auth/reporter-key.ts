import { setTimeout as sleep } from 'node:timers/promises';
import type { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { isJsonObject, type Micros, type ProjectId } from '../wire/index.ts';
import type { KeyStore } from './authenticate.ts';
import { formatKey, type Key, makeKey, newRecord, parseKey, putKey } from './keys.ts';

/** Loaded when it is first used, from beside the bundle. */
const sdk = () => import('@aws-sdk/client-secrets-manager');

/** What a secret holds of a key: the key, and the headers of an exporter that uses it. */
export interface KeySecretValue {
  /** The key as its holder sends it. */
  readonly key: string;
  /** The value of `OTEL_EXPORTER_OTLP_HEADERS`. */
  readonly headers: string;
}

/** How long a policy may take until it is in force everywhere, in ms. */
const policyMs = 30_000;
const pauseMs = 2000;

const getName = (error: unknown): string => (error instanceof Error ? error.name : '');

/** A secret of Secrets Manager that holds a key, in a version for each key that it ever held. */
export class KeySecret {
  readonly #id: string;
  #client: SecretsManagerClient | undefined;

  /** @param id the secret's name or ARN */
  constructor(id: string) {
    this.#id = id;
  }

  /**
   * The text of a version.
   *
   * @returns undefined if there is no such version
   * @throws the SDK's error if it cannot be read
   */
  async read(version: string): Promise<string | undefined> {
    const { GetSecretValueCommand } = await sdk();
    const command = new GetSecretValueCommand({ SecretId: this.#id, VersionId: version });
    try {
      const { SecretString } = await this.#patiently((client) => client.send(command));
      return SecretString;
    } catch (error) {
      if (getName(error) === 'ResourceNotFoundException') return undefined;
      throw error;
    }
  }

  /**
   * Makes a version, which is then the current one.
   *
   * @returns whether it was made; false if there is one with another content
   * @throws the SDK's error if it cannot be written
   */
  async write(version: string, value: KeySecretValue): Promise<boolean> {
    const { PutSecretValueCommand } = await sdk();
    const command = new PutSecretValueCommand({
      SecretId: this.#id,
      ClientRequestToken: version,
      SecretString: JSON.stringify(value),
    });
    try {
      await this.#patiently((client) => client.send(command));
      return true;
    } catch (error) {
      if (getName(error) === 'ResourceExistsException') return false;
      throw error;
    }
  }

  /** Repeats what is denied, since its policy may be new. */
  async #patiently<T>(send: (client: SecretsManagerClient) => Promise<T>): Promise<T> {
    const { SecretsManagerClient } = await sdk();
    this.#client ??= new SecretsManagerClient({ maxAttempts: 5 });
    const until = Date.now() + policyMs;
    for (;;) {
      try {
        return await send(this.#client);
      } catch (error) {
        if (getName(error) !== 'AccessDeniedException' || Date.now() + pauseMs > until) throw error;
        await sleep(pauseMs);
      }
    }
  }
}

/** Who reports to which project. */
export interface Reporter {
  /** The user of the key: 1–128 printable characters without `:`. */
  readonly user: string;
  readonly project: ProjectId;
}

/**
 * The value of `OTEL_EXPORTER_OTLP_HEADERS`. Some exporters take a space only as `%20`. Those that send
 * that as it is are understood.
 */
export const reporterHeaders = (key: string, project: ProjectId): string =>
  `authorization=Bearer%20${key},project_id=${project}`;

const keyIn = (text: string): Key => {
  const value: unknown = JSON.parse(text);
  const key = isJsonObject(value) && typeof value.key === 'string' ? parseKey(value.key) : undefined;
  if (!key) throw new Error('the secret holds no key of this service: somebody else has written it');
  return key;
};

/** The key of a version, which is made if there is none. Whoever made it first has made it. */
const keyOfVersion = async (secret: KeySecret, version: string, project: ProjectId) => {
  const newKey = formatKey(makeKey());
  const value: KeySecretValue = { key: newKey, headers: reporterHeaders(newKey, project) };
  const text = await secret.read(version);
  if (text !== undefined) return keyIn(text);
  if (await secret.write(version, value)) return keyIn(JSON.stringify(value));
  return keyIn((await secret.read(version)) ?? '');
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
  { table }: KeyStore,
  secret: KeySecret,
  version: string,
  { user, project }: Reporter,
  now: Micros,
): Promise<string> => {
  const key = await keyOfVersion(secret, version, project);
  const grants = [{ scope: project, role: 'write' }] as const;
  const record = { ...newRecord(key, { user, grants }, now), byDeployment: true } as const;
  if (!(await putKey(table, record))) throw new Error(`the key ${key.id} was revoked meanwhile`);
  return key.id;
};
