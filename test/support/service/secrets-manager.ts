import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';

/** Answers as Secrets Manager does, as far as a key at deployment needs it. */
export interface SecretsManager extends AsyncDisposable {
  readonly endpoint: string;
  /** Makes a secret, empty without a value, and gives its ARN. */
  create(name: string, value?: string): string;
  /** Denies the next requests, as before a policy is in force. */
  deny(requests: number): void;
  /** The text of a version. Without a version, of the current one. Throws where there is none. */
  readValue(arn: string, version?: string): string;
}

interface Secret {
  readonly versions: Map<string, string>;
  current?: string;
}

interface Request {
  readonly SecretId: string;
  readonly VersionId?: string;
  readonly ClientRequestToken?: string;
  readonly SecretString?: string;
}

class Refusal extends Error {}

/** Starts it on loopback. No package of npm's has one that runs in a process. */
export const startSecretsManager = async (): Promise<SecretsManager> => {
  const secrets = new Map<string, Secret>();
  let denied = 0;

  const find = (arn: string): Secret => {
    const secret = secrets.get(arn);
    if (!secret) throw new Refusal('ResourceNotFoundException');
    return secret;
  };
  const read = (arn: string, version?: string): string => {
    const secret = find(arn);
    const value = secret.versions.get(version ?? secret.current ?? '');
    if (value === undefined) throw new Refusal('ResourceNotFoundException');
    return value;
  };
  const put = ({ SecretId, ClientRequestToken: version = '', SecretString = '' }: Request): void => {
    const secret = find(SecretId);
    const known = secret.versions.get(version);
    if (known !== undefined && known !== SecretString) throw new Refusal('ResourceExistsException');
    secret.versions.set(version, SecretString);
    secret.current = version;
  };
  const answer = (action: string, request: Request): object => {
    if (denied-- > 0) throw new Refusal('AccessDeniedException');
    if (action === 'GetSecretValue') return { SecretString: read(request.SecretId, request.VersionId) };
    if (action === 'PutSecretValue') put(request);
    else throw new Refusal('InvalidActionException');
    return {};
  };

  const server = createServer(async (req, res) => {
    const [, action = ''] = String(req.headers['x-amz-target']).split('.');
    try {
      res.end(JSON.stringify(answer(action, JSON.parse(await text(req)))));
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      res.writeHead(400).end(JSON.stringify({ __type: error.message }));
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return {
    endpoint: `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`,
    create: (name, value) => {
      const arn = `arn:aws:secretsmanager:us-east-1:000000000000:secret:${name}`;
      secrets.set(arn, { versions: new Map() });
      if (value !== undefined) put({ SecretId: arn, ClientRequestToken: randomUUID(), SecretString: value });
      return arn;
    },
    deny: (requests) => {
      denied = requests;
    },
    readValue: read,
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
    },
  };
};
