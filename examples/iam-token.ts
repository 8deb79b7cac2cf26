/**
 * Tokens for callers inside AWS, in place of a key. The credentials of the caller's role sign a request that
 * the service sends to AWS. Copy this into your program; docs/keys.md says more.
 */
import { Sha256 } from '@smithy/core/checksum';
import { SignatureV4 } from '@smithy/signature-v4';

interface TokenOptions {
  /** The service's URL, without a slash at its end: PENNYTRACE_URL. */
  url: string;
  /** The region of the service, whose STS is asked. */
  region: string;
  /** `fromNodeProviderChain()` of @aws-sdk/credential-providers: functions, containers and machines have some. */
  credentials: ConstructorParameters<typeof SignatureV4>[0]['credentials'];
  /** Another STS, such as a local one. @default - that of the region */
  sts?: string | undefined;
}

/** AWS takes nothing that is older. */
const seconds = 15 * 60;
/** A new token costs the service a request, so each serves for ten minutes. */
const usedMs = 10 * 60_000;

/** Makes a function that gives a token: send it as `Authorization: Bearer …`, or as a password of Basic. */
export const makeTokens = ({ url, region, credentials, sts }: TokenOptions): (() => Promise<string>) => {
  const { protocol, hostname, host, port, origin } = new URL(sts ?? `https://sts.${region}.amazonaws.com`);
  const signer = new SignatureV4({ service: 'sts', region, credentials, sha256: Sha256 });

  const make = async (): Promise<string> => {
    const request = {
      method: 'GET',
      protocol,
      hostname,
      ...(port && { port: Number(port) }),
      path: '/',
      query: { Action: 'GetCallerIdentity', Version: '2011-06-15' },
      headers: { host, 'x-pennytrace-service': url },
    };
    const { query = {} } = await signer.presign(request, { expiresIn: seconds });
    const signed = `${origin}/?${new URLSearchParams(query as Record<string, string>)}`;
    return `svc-iam-v1.${Buffer.from(signed).toString('base64url')}`;
  };

  let token: Promise<string> | undefined;
  let madeAt = 0;
  return () => {
    if (!token || Date.now() - madeAt > usedMs) {
      madeAt = Date.now();
      token = make();
      // What failed is tried again with the next request.
      token.catch(() => {
        token = undefined;
      });
    }
    return token;
  };
};
