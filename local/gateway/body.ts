import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { Refusal } from './refusal.ts';

/** API Gateway's bound on a body: 10 MB. */
export const maxBodyBytes = 10 * 1024 * 1024;

/** What is taken in of a body that nobody wants, so that its sender comes to read the answer. */
const maxDrainedBytes = 64 * 1024 * 1024;
const maxDrainMs = 2000;

/** Whether the client waits to be told before it sends its body. */
const waitsToSend = (req: IncomingMessage): boolean => /^100-continue$/i.test(req.headers.expect ?? '');

/**
 * Reads a body. Of one that is too long it reads no more than is needed to know.
 *
 * @throws Refusal REQUEST_TOO_LARGE
 */
export const readBody = async (req: IncomingMessage, res: ServerResponse): Promise<Buffer> => {
  if (Number(req.headers['content-length'] ?? 0) > maxBodyBytes) throw new Refusal('REQUEST_TOO_LARGE');
  if (waitsToSend(req)) res.writeContinue();
  const chunks: Buffer[] = [];
  let size = 0;
  // Leaving the loop shall not close the connection: the answer is still to go out on it.
  for await (const chunk of req.iterator({ destroyOnReturn: false })) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > maxBodyBytes) throw new Refusal('REQUEST_TOO_LARGE');
  }
  return Buffer.concat(chunks);
};

/**
 * Takes in what still comes of a body, up to a bound and for a moment. A connection that is closed
 * while the client sends is reset, and the client might never see the answer.
 */
export const drain = async (req: IncomingMessage): Promise<void> => {
  if (req.complete || req.destroyed || waitsToSend(req)) return;
  let size = 0;
  const over = new AbortController();
  const done = () => over.abort();
  req.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size > maxDrainedBytes) done();
  });
  req.once('end', done).once('close', done);
  await sleep(maxDrainMs, undefined, { signal: over.signal }).catch(() => {});
  req.pause();
};
