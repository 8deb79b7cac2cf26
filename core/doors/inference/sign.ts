import { fromEnv } from '@aws-sdk/credential-provider-env';
import { SignatureV4 } from '@smithy/signature-v4';
import { Sha256 } from '../../foundations/storage/sdk/checksum.ts';
import type { Headers } from './headers.ts';

const signers = new Map<string, SignatureV4>();

const signerOf = (region: string): SignatureV4 => {
  const known = signers.get(region);
  if (known) return known;
  const signer = new SignatureV4({ service: 'bedrock', region, credentials: fromEnv(), sha256: Sha256 });
  signers.set(region, signer);
  return signer;
};

/**
 * Signs a POST to Amazon Bedrock with the function's role (Signature Version 4).
 *
 * @returns the headers with the signature; neither they nor the body may change on the way
 */
export const signed = async (
  url: URL,
  headers: Headers,
  body: Uint8Array,
  region: string,
): Promise<Headers> => {
  const request = await signerOf(region).sign({
    method: 'POST',
    protocol: url.protocol,
    hostname: url.hostname,
    path: url.pathname,
    query: Object.fromEntries(url.searchParams),
    headers: { ...headers, host: url.host },
    body,
  });
  return request.headers;
};
