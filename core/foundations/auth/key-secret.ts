import { setTimeout as sleep } from 'node:timers/promises';
import type { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';

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

const nameOf = (error: unknown): string => (error instanceof Error ? error.name : '');

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
      if (nameOf(error) === 'ResourceNotFoundException') return undefined;
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
      if (nameOf(error) === 'ResourceExistsException') return false;
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
        if (nameOf(error) !== 'AccessDeniedException' || Date.now() + pauseMs > until) throw error;
        await sleep(pauseMs);
      }
    }
  }
}
