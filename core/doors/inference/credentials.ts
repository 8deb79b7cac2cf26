import type { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { isJsonObject } from '../../../foundations/wire/index.ts';

/**
 * Secrets Manager's client is loaded when a key is first read. Upstreams that accept the function's
 * role need none.
 */
const secretsManager = () => import('@aws-sdk/client-secrets-manager');

type Sdk = Awaited<ReturnType<typeof secretsManager>>;

/**
 * A Secrets Manager client for the life of a container. It has one second to connect and three to
 * answer.
 */
export const secretsClient = ({ SecretsManagerClient }: Sdk): SecretsManagerClient =>
  new SecretsManagerClient({
    maxAttempts: 3,
    requestHandler: new NodeHttpHandler({
      connectionTimeout: 1000,
      requestTimeout: 3000,
      throwOnRequestTimeout: true,
    }),
  });

/** The shortest time between two reads of a refused key, in ms. The key may simply be wrong. */
const renewalMs = 30_000;

const headerText = /^[\x21-\x7e]+$/;

/**
 * The key in a secret: its text, or the only value if the text is a JSON object. The console of
 * Secrets Manager writes such objects.
 *
 * @throws Error if it holds no key that fits a header; the message shows nothing of the secret
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
 * The keys of the upstreams. Each is read from Secrets Manager once per container, and again after
 * it was refused.
 */
export class SecretKeys {
  readonly #makeClient: (sdk: Sdk) => SecretsManagerClient;
  #client: SecretsManagerClient | undefined;
  readonly #keys = new Map<string, { readonly key: string; readonly readAt: number }>();

  /** @param makeClient makes the client that reads keys; called once, at the first read */
  constructor(makeClient: (sdk: Sdk) => SecretsManagerClient) {
    this.#makeClient = makeClient;
  }

  /**
   * The key in a secret.
   *
   * @param secret its name or ARN
   * @throws the SDK's error if it cannot be read; Error if it holds no key
   */
  async key(secret: string, signal: AbortSignal): Promise<string> {
    return this.#keys.get(secret)?.key ?? this.#read(secret, signal);
  }

  /**
   * Reads a refused key again, unless it was read just now.
   *
   * @returns the key if it has changed
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
