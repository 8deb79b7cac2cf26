import { Sha256 } from '@smithy/core/checksum';
import { SignatureV4 } from '@smithy/signature-v4';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { isSignedWith, newCredentials } from '../src/signature.ts';

it("The example of AWS's documentation is signed with its secret, and with no other", () => {
  // https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html
  const request = {
    method: 'GET',
    url: '/test.txt',
    headers: {
      host: 'examplebucket.s3.amazonaws.com',
      authorization:
        'AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,' +
        'SignedHeaders=host;range;x-amz-content-sha256;x-amz-date,' +
        'Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41',
      range: 'bytes=0-9',
      'x-amz-content-sha256': 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
      'x-amz-date': '20130524T000000Z',
    },
  };
  const secret = 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY';
  expect(isSignedWith(secret, request)).toBe(true);
  expect(isSignedWith(`${secret}x`, request)).toBe(false);
  const changed = { ...request, headers: { ...request.headers, range: 'bytes=0-99' } };
  expect(isSignedWith(secret, changed)).toBe(false);
});

/** As AWS's SDKs write a part of an address. */
const encoded = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`);

const text = fc.string({ unit: 'binary', minLength: 1, maxLength: 8 });
const requests = fc.record({
  service: fc.constantFrom('s3', 'dynamodb', 'lambda'),
  path: fc.array(fc.stringMatching(/^[a-zA-Z0-9 +=&%$:@~_-]{1,8}$/), { maxLength: 3 }),
  query: fc.dictionary(fc.stringMatching(/^[a-z][a-z +-]{0,5}$/), text, { maxKeys: 4 }),
  value: fc.stringMatching(/^[ -~]*$/),
  body: text,
});

it('What the SDK signs is signed, and what is changed since is not', async () => {
  const credentials = newCredentials();
  await fc.assert(
    fc.asyncProperty(requests, async ({ service, path, query, value, body }) => {
      const url = `/${path.map(encoded).join('/')}`;
      const signer = new SignatureV4({
        service,
        region: 'us-east-1',
        sha256: Sha256,
        credentials,
        uriEscapePath: service !== 's3',
      });
      const { headers } = await signer.sign({
        method: 'POST',
        protocol: 'http:',
        hostname: '127.0.0.1',
        path: url,
        query,
        body,
        headers: { host: '127.0.0.1:8000', 'x-amz-meta': value },
      });
      const pairs = Object.entries(query).map(([name, value]) => `${encoded(name)}=${encoded(value)}`);
      const sent = {
        method: 'POST',
        url: [url, ...(pairs.length > 0 ? [pairs.join('&')] : [])].join('?'),
        headers,
      };
      const secret = credentials.secretAccessKey;
      expect(isSignedWith(secret, sent, body)).toBe(true);
      expect(isSignedWith(secret, sent)).toBe(true);
      expect(isSignedWith(secret, sent, `${body}x`)).toBe(false);
      expect(isSignedWith(secret, { ...sent, method: 'PUT' }, body)).toBe(false);
      expect(isSignedWith(secret, { ...sent, url: `${sent.url}x` }, body)).toBe(false);
      expect(isSignedWith(newCredentials().secretAccessKey, sent, body)).toBe(false);
    }),
  );
});

it.each([
  undefined,
  '',
  'Basic abc',
  'AWS4-HMAC-SHA256',
  'AWS4-HMAC-SHA256 Credential=local/20260101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=0',
])('What has no signature is not signed: %s', (authorization) => {
  const headers = { host: '127.0.0.1', ...(authorization !== undefined && { authorization }) };
  expect(isSignedWith('secret', { headers }, '')).toBe(false);
});
