import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { Refusal } from './refusal.ts';

/** API Gateway's limit for a body: 10 MB. */
export const maxBodyBytes = 10 * 1024 * 1024;

/** How much of an unwanted body is read, in bytes. Its sender reads the answer only afterwards. */
const maxDrainedBytes = 64 * 1024 * 1024;
const maxDrainMs = 2000;

/** Whether the client waits for permission to send its body. */
const waitsToSend = (req: IncomingMessage): boolean => /^100-continue$/i.test(req.headers.expect ?? '');

/**
 * Reads a body. It stops as soon as the body turns out to be too long.
 *
 * @throws Refusal REQUEST_TOO_LARGE
 */
export const readBody = async (req: IncomingMessage, res: ServerResponse): Promise<Buffer> => {
  if (Number(req.headers['content-length'] ?? 0) > maxBodyBytes) throw new Refusal('REQUEST_TOO_LARGE');
  if (waitsToSend(req)) res.writeContinue();
  const chunks: Buffer[] = [];
  let size = 0;
  // Leaving the loop must not close the connection, because the answer still goes out on it.
  for await (const chunk of req.iterator({ destroyOnReturn: false })) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > maxBodyBytes) throw new Refusal('REQUEST_TOO_LARGE');
  }
  return Buffer.concat(chunks);
};

/**
 * Reads the rest of a body, within a size and a time. If the connection were closed while the
 * client sends, it would be reset and the client might miss the answer.
 */
export const drain = async (req: IncomingMessage): Promise<void> => {
  if (req.complete || req.destroyed || waitsToSend(req)) return;
  let size = 0;
  const stopped = new AbortController();
  const done = () => stopped.abort();
  req.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size > maxDrainedBytes) done();
  });
  req.once('end', done).once('close', done);
  await sleep(maxDrainMs, undefined, { signal: stopped.signal }).catch(() => {});
  req.pause();
};
