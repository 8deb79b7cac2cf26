import { Transform } from 'node:stream';
import { isJsonObject } from '../../../foundations/wire/index.ts';
import type { InferenceBody, InferencePath } from './request.ts';

/** Whether streams of a path say their usage only if they are asked to. The others always do. */
const isAsked = (path: InferencePath): boolean => path === '/chat/completions' || path === '/completions';

/** A request that asks for its usage, and whether its client did not. */
export interface UsageRequest {
  readonly body: InferenceBody;
  readonly withholdsUsage: boolean;
}

/** Asks for the usage of a stream, as OpenAI's `stream_options` do. */
export const askForUsage = (path: InferencePath, body: InferenceBody): UsageRequest => {
  if (body.stream !== true || !isAsked(path)) return { body, withholdsUsage: false };
  const streamOptions = body.stream_options;
  const options = isJsonObject(streamOptions as never) ? (streamOptions as Record<string, unknown>) : {};
  return {
    body: { ...body, stream_options: { ...options, include_usage: true } },
    withholdsUsage: options.include_usage !== true,
  };
};

/** Whether an event of a stream is the chunk that has the usage and no choice. */
const isUsage = (latin1: string): boolean => {
  if (!latin1.includes('"usage"')) return false;
  const data = Buffer.from(latin1, 'latin1')
    .toString('utf8')
    .split(/\r\n|\r|\n/)
    .flatMap((line) => (line.startsWith('data:') ? [line.slice('data:'.length)] : []))
    .join('\n');
  try {
    const { choices, usage } = JSON.parse(data);
    return Array.isArray(choices) && choices.length === 0 && isJsonObject(usage);
  } catch {
    return false;
  }
};

/** Longer than any chunk of usage, in bytes. */
const maxHeld = 64 * 1024;

/** What ends an event. */
const emptyLine = /\r\n\r\n|\n\n|\r\r/;

/**
 * Withholds the chunk of usage from a stream of server-sent events. Each event goes on once it is
 * whole, byte by byte as it was, and a very long one before that.
 */
export const withoutUsage = (): Transform => {
  let held = '';
  let isLong = false;
  const bytes = (latin1: string) => (latin1 === '' ? undefined : Buffer.from(latin1, 'latin1'));
  return new Transform({
    transform: (chunk: Buffer, _encoding, done) => {
      held += chunk.toString('latin1');
      let out = '';
      for (let end = emptyLine.exec(held); end; end = emptyLine.exec(held)) {
        const event = held.slice(0, end.index + end[0].length);
        if (isLong || !isUsage(event)) out += event;
        held = held.slice(event.length);
        isLong = false;
      }
      if (held.length > maxHeld) {
        // The end of it may be the beginning of an empty line.
        out += held.slice(0, -3);
        held = held.slice(-3);
        isLong = true;
      }
      done(null, bytes(out));
    },
    flush: (done) => done(null, !isLong && isUsage(held) ? undefined : bytes(held)),
  });
};
