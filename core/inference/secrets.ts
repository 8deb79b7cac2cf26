import type { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { isJsonObject } from '../wire/index.ts';

/**
 * Secrets Manager's part of the SDK, loaded when a key is first read: upstreams that the function's
 * role may ask need none.
 */
const secretsManager = () => import('@aws-sdk/client-secrets-manager');

type Sdk = Awaited<ReturnType<typeof secretsManager>>;

/** A Secrets Manager client for the life of a container: one second to connect, three to answer. */
export const secretsClient = ({ SecretsManagerClient }: Sdk): SecretsManagerClient =>
  new SecretsManagerClient({
    maxAttempts: 3,
    requestHandler: new NodeHttpHandler({
      connectionTimeout: 1000,
      requestTimeout: 3000,
      throwOnRequestTimeout: true,
    }),
  });

/** A key that upstreams refuse is looked up again at most so often: it may simply be wrong. */
const renewalMs = 30_000;

const headerText = /^[\x21-\x7e]+$/;

/**
 * The key in a secret: its text, or the only value of the object that it is the JSON of, as the
 * console of Secrets Manager writes it.
 *
 * @throws Error where there is none that can be sent; the message has nothing of the secret's text
 */
export const keyOfSecret = (text: string): string => {
  let key: unknown = text.trim();
  if (text.trim().startsWith('{')) {
    const object: unknown = JSON.parse(text);
    const values = isJsonObject(object) ? Object.values(object) : [];
    key = values.length === 1 ? values[0] : undefined;
  }
  if (typeof key === 'string' && headerText.test(key)) return key;
  throw new Error('the secret should be the key, or a JSON object with it as its only value');
};

/**
 * The upstreams' keys, each read from Secrets Manager once in the life of a container, or after it
 * was refused.
 */
export class SecretKeys {
  readonly #makeClient: (sdk: Sdk) => SecretsManagerClient;
  #client: SecretsManagerClient | undefined;
  readonly #keys = new Map<string, { readonly key: string; readonly readAt: number }>();

  /**
   * @param makeClient makes the client that keys are read with, called once, when the first of them
   * is
   */
  constructor(makeClient: (sdk: Sdk) => SecretsManagerClient) {
    this.#makeClient = makeClient;
  }

  /**
   * The key in a secret.
   *
   * @param secret its name or ARN
   * @throws the SDK's error where it cannot be read, Error where there is no key in it
   */
  async key(secret: string, signal: AbortSignal): Promise<string> {
    return this.#keys.get(secret)?.key ?? this.#read(secret, signal);
  }

  /**
   * Reads a secret again whose key was refused, unless that was done just now. Gives the key if it
   * is another one.
   */
  async renewed(secret: string, refused: string, signal: AbortSignal): Promise<string | undefined> {
    const readAt = this.#keys.get(secret)?.readAt ?? 0;
    if (Date.now() - readAt < renewalMs) return undefined;
    const key = await this.#read(secret, signal);
    return key === refused ? undefined : key;
  }

  async #read(secret: string, signal: AbortSignal): Promise<string> {
    const sdk = await secretsManager();
    this.#client ??= this.#makeClient(sdk);
    const command = new sdk.GetSecretValueCommand({ SecretId: secret });
    const { SecretString = '' } = await this.#client.send(command, { abortSignal: signal });
    const key = keyOfSecret(SecretString);
    this.#keys.set(secret, { key, readAt: Date.now() });
    return key;
  }
}
