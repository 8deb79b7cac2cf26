import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Sha256 } from '@smithy/core/checksum';
import { SignatureV4 } from '@smithy/signature-v4';
import { encoded, hashed, keyed } from './bedrock.ts';
import { serve } from './upstream.ts';

/** Credentials of a role's session, or of a user if they have no session's token. */
export interface TestCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

/** An STS of the tests' own, which knows whose credentials are whose and calculates signatures anew. */
export interface FakeSts extends AsyncDisposable {
  readonly origin: string;
  /** Every request so far: its path with its query. */
  readonly requests: readonly string[];
  /** Gives somebody credentials: `arn:aws:sts::123456789012:assumed-role/agent/session`. */
  readonly login: (callerArn: string) => TestCredentials;
  /** Sets how it answers from now on. @default - as STS does */
  readonly behave: (behaviour?: (req: IncomingMessage, res: ServerResponse) => unknown) => void;
}

/** The signature that a presigned request should have, as AWS documents Signature Version 4. */
const signatureFor = (req: IncomingMessage, query: URLSearchParams, secret: string): string => {
  const [, ...scope] = (query.get('X-Amz-Credential') ?? '').split('/');
  const parameters = [...query]
    .filter(([name]) => name !== 'X-Amz-Signature')
    .map(([name, value]) => `${encoded(name)}=${encoded(value)}`)
    .toSorted();
  const names = query.get('X-Amz-SignedHeaders') ?? '';
  const headers = names.split(';').map((name) => `${name}:${String(req.headers[name] ?? '').trim()}\n`);
  const canonical = [req.method, '/', parameters.join('&'), headers.join(''), names, hashed('')].join('\n');
  const toSign = ['AWS4-HMAC-SHA256', query.get('X-Amz-Date'), scope.join('/'), hashed(canonical)].join('\n');
  const key = scope.reduce<string | Uint8Array>(keyed, `AWS4${secret}`);
  return keyed(key, toSign).toString('hex');
};

/** Starts it. It speaks JSON to who accepts it, and XML otherwise, as STS does. */
export const startSts = async (): Promise<FakeSts> => {
  const requests: string[] = [];
  const callers = new Map<string, TestCredentials & { readonly arn: string }>();
  let behaviour: ((req: IncomingMessage, res: ServerResponse) => unknown) | undefined;

  const answer = (res: ServerResponse, status: number, json: object): void => {
    res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(json));
  };
  const refuse = (res: ServerResponse, status: number, Code: string): void =>
    answer(res, status, { Error: { Code, Message: 'refused', Type: 'Sender' }, RequestId: 'request-1' });
  const answerAsSts = (req: IncomingMessage, res: ServerResponse): unknown => {
    if (req.headers.accept !== 'application/json')
      return res.writeHead(200, { 'content-type': 'text/xml' }).end('<GetCallerIdentityResponse/>');
    const query = new URL(req.url ?? '/', 'http://sts').searchParams;
    const caller = callers.get(query.get('X-Amz-Credential')?.split('/')[0] ?? '');
    if (query.get('Action') !== 'GetCallerIdentity') return refuse(res, 400, 'InvalidAction');
    if (caller?.sessionToken !== (query.get('X-Amz-Security-Token') ?? undefined) || !caller)
      return refuse(res, 403, 'InvalidClientTokenId');
    if (signatureFor(req, query, caller.secretAccessKey) !== query.get('X-Amz-Signature'))
      return refuse(res, 403, 'SignatureDoesNotMatch');
    const Account = caller.arn.split(':')[4];
    const GetCallerIdentityResult = { Account, Arn: caller.arn, UserId: 'AROAEXAMPLE:session' };
    return answer(res, 200, { GetCallerIdentityResponse: { GetCallerIdentityResult } });
  };

  const server = await serve((req, res) => {
    requests.push(req.url ?? '');
    (behaviour ?? answerAsSts)(req, res);
  });
  return {
    ...server,
    requests,
    login: (arn) => {
      const credentials = {
        accessKeyId: `ASIA${randomBytes(8).toString('hex').toUpperCase()}`,
        secretAccessKey: randomBytes(20).toString('base64'),
        ...(!arn.includes(':user/') && { sessionToken: randomBytes(600).toString('base64') }),
      };
      callers.set(credentials.accessKeyId, { ...credentials, arn });
      return credentials;
    },
    behave: (next) => {
      behaviour = next;
    },
  };
};

/** What a token is made of, each part of which a test can have otherwise. */
export interface TokenParts {
  readonly serviceUrl: string;
  readonly region?: string;
  readonly seconds?: number;
  readonly signedAt?: Date;
  /** Headers that are signed beside the host, in place of the service's. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly path?: string;
  /** The STS that the signature is for. */
  readonly origin: string;
}

/** The presigned URL of `GetCallerIdentity`, signed by AWS's own library. */
export const presign = async (credentials: TestCredentials, parts: TokenParts): Promise<URL> => {
  const { serviceUrl, origin, region = 'us-east-1', seconds = 900, signedAt = new Date() } = parts;
  const { headers = { 'x-pennytrace-service': serviceUrl }, query, path = '/' } = parts;
  const { protocol, hostname, port, host } = new URL(origin);
  const signer = new SignatureV4({ service: 'sts', region, credentials, sha256: Sha256 });
  const signed = await signer.presign(
    {
      method: 'GET',
      protocol,
      hostname,
      ...(port && { port: Number(port) }),
      path,
      query: { Action: 'GetCallerIdentity', Version: '2011-06-15', ...query },
      headers: { host, ...headers },
    },
    { expiresIn: seconds, signingDate: signedAt },
  );
  return new URL(`${path}?${new URLSearchParams(signed.query as Record<string, string>)}`, origin);
};
