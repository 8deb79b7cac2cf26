import { fromEnv } from '@aws-sdk/credential-provider-env';
import { Sha256 } from '@smithy/core/checksum';
import { SignatureV4 } from '@smithy/signature-v4';

type Credentials = ConstructorParameters<typeof SignatureV4>[0]['credentials'];

/** The headers of a request by their names. */
export type SignedHeaders = Readonly<Record<string, string>>;

/** A service of AWS in a region, as signatures name it. */
export interface Signing {
  readonly service: string;
  readonly region: string;
  /** Whose request it is. @default - that of the function, by its environment */
  readonly credentials?: Credentials;
}

const signers = new Map<string, SignatureV4>();

const createSigner = ({ service, region, credentials }: Signing): SignatureV4 => {
  if (credentials) return new SignatureV4({ service, region, credentials, sha256: Sha256 });
  const known = signers.get(`${service} ${region}`);
  if (known) return known;
  const signer = new SignatureV4({ service, region, credentials: fromEnv(), sha256: Sha256 });
  signers.set(`${service} ${region}`, signer);
  return signer;
};

/**
 * Signs a POST to a service of AWS (Signature Version 4).
 *
 * @returns the headers with the signature; neither they nor the body may change on the way
 */
export const signed = async (
  signing: Signing,
  url: URL,
  headers: SignedHeaders,
  body: Uint8Array,
): Promise<SignedHeaders> => {
  const request = await createSigner(signing).sign({
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
