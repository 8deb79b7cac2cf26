/**
 * A process that holds one function as a container of Lambda's does: it loads the bundle that it is
 * given and answers the events that it is sent, one at a time. `held-function.ts` starts it.
 */
import { createRequire } from 'node:module';
import { finished } from 'node:stream/promises';
import { awslambda, isStreaming, ResponseStream } from '../../local/runtime/response-stream.ts';

type Handler = (event: unknown, ...rest: unknown[]) => Promise<unknown>;

/** What the process is sent: an event as JSON. */
export interface Invocation {
  readonly event: string;
}

/** What it took to answer. */
export interface Invoked {
  /** Processor time of all threads, in ms. */
  readonly cpuMs: number;
  /** The most memory that the process ever held, in MB as Lambda counts them, of 2²⁰ bytes. */
  readonly peakMb: number;
  /** Bytes of the answer. */
  readonly bytes: number;
  /** The answer's beginning: all of a short one. */
  readonly text: string;
  /** What the function logged. */
  readonly log: string;
}

/** Why it could not be answered. */
export interface Failed {
  readonly failed: string;
}

const shownBytes = 10_000;

let log = '';
// Lambda takes the lines from here as well.
process.stdout.write = (line: unknown) => {
  log += String(line);
  return true;
};

Object.assign(globalThis, { awslambda });
const { handler } = createRequire(import.meta.url)(process.argv[2] ?? '') as { handler: Handler };

const context = { awsRequestId: 'bench', getRemainingTimeInMillis: () => 900_000 };

const answerTo = async (event: string): Promise<{ bytes: number; text: string }> => {
  if (!isStreaming(handler)) {
    const text = JSON.stringify(await handler(JSON.parse(event), context));
    return { bytes: Buffer.byteLength(text), text: text.slice(0, shownBytes) };
  }
  let [bytes, text] = [0, ''];
  const stream: ResponseStream = new ResponseStream((piece) => {
    bytes += piece.length;
    if (text.length < shownBytes) text += Buffer.from(piece).toString('utf8');
    setImmediate(() => stream.taken(piece.length));
  });
  const over = finished(stream);
  await handler(JSON.parse(event), stream, context);
  await over;
  return { bytes, text };
};

const invoked = async (event: string): Promise<Invoked> => {
  log = '';
  const before = process.cpuUsage();
  const answer = await answerTo(event);
  const { user, system } = process.cpuUsage(before);
  return {
    ...answer,
    cpuMs: (user + system) / 1000,
    peakMb: process.resourceUsage().maxRSS / 1024,
    log,
  };
};

process.on('message', async ({ event }: Invocation) => {
  const answer = await invoked(event).catch((error: unknown): Failed => ({ failed: String(error) }));
  process.send?.(answer);
});
