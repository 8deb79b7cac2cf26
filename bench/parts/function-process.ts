/**
 * A process that holds one function as a Lambda container does. It loads a bundle and answers
 * events one at a time. `function-container.ts` starts it.
 */
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { finished } from 'node:stream/promises';
import { awslambda, isStreaming, ResponseStream } from '../../local/runtime/response-stream.ts';

type Handler = (event: unknown, ...rest: unknown[]) => Promise<unknown>;

/** A message to the process: an event as JSON. */
export interface Invocation {
  readonly event: string;
}

/** The answer to an invocation, with what it took. */
export interface InvocationResult {
  /** CPU time of all threads, in ms. */
  readonly cpuMs: number;
  /** The most memory that the process has held, in MB of 2²⁰ bytes as Lambda counts. */
  readonly peakMb: number;
  /** Bytes of the answer. */
  readonly bytes: number;
  /** The first 10,000 characters of the answer. */
  readonly text: string;
  /** The function's log lines. */
  readonly log: string;
}

/** The failure of an invocation. */
export interface InvocationFailure {
  readonly failed: string;
}

const shownBytes = 10_000;

let log = '';
// Lambda also reads log lines from standard output.
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
  const ended = finished(stream);
  await handler(JSON.parse(event), stream, context);
  await ended;
  return { bytes, text };
};

/**
 * The most memory that the process has had, in MB. `maxRSS` counts on from what its parent had when
 * it forked, so Linux is asked for that of the program alone.
 */
const peakMb = (): number => {
  const status = existsSync('/proc/self/status') ? readFileSync('/proc/self/status', 'utf8') : '';
  const [, kilobytes] = /^VmHWM:\s+(\d+) kB$/m.exec(status) ?? [];
  return Number(kilobytes ?? process.resourceUsage().maxRSS) / 1024;
};

const invoke = async (event: string): Promise<InvocationResult> => {
  log = '';
  const before = process.cpuUsage();
  const answer = await answerTo(event);
  const { user, system } = process.cpuUsage(before);
  return {
    ...answer,
    cpuMs: (user + system) / 1000,
    peakMb: peakMb(),
    log,
  };
};

process.on('message', async ({ event }: Invocation) => {
  const answer = await invoke(event).catch(
    (error: unknown): InvocationFailure => ({ failed: String(error) }),
  );
  process.send?.(answer);
});
