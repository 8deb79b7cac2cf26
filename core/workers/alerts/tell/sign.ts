import { createHmac, randomBytes } from 'node:crypto';

/*
 * Signatures of Standard Webhooks, symmetric ones:
 * https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 */

const prefix = 'whsec_';

/** The bytes of a key, of which the specification asks for 24 to 64. */
const keyBytes = 32;

/** Makes a key for signatures: `whsec_` and 32 bytes in base64. */
export const makeSigningKey = (): string => prefix + randomBytes(keyBytes).toString('base64');

/**
 * The headers by which a receiver knows who sent a webhook, and whether it has come before.
 *
 * @param id of the message, the same each time it is sent
 * @param key `whsec_` and bytes in base64
 * @param now milliseconds since 1970: of this try
 */
export const signatureHeaders = (
  id: string,
  body: string,
  key: string,
  now: number,
): Record<string, string> => {
  const timestamp = String(Math.floor(now / 1000));
  const signature = createHmac('sha256', Buffer.from(key.slice(prefix.length), 'base64'))
    .update(`${id}.${timestamp}.${body}`)
    .digest('base64');
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` };
};
