/*
 * Replaces `node:stream/web` in the bundles (lib/bundles.ts). Only middy imports it, to ask whether
 * an answer is such a stream. None is, and loading Node's module takes 3 ms of every cold start.
 */

/** Stands for the class of web streams in `instanceof`. It loads the real one when it is asked. */
// biome-ignore lint/complexity/noStaticOnlyClass: `instanceof` takes a class.
export class ReadableStream {
  static [Symbol.hasInstance](value: unknown): boolean {
    return value instanceof globalThis.ReadableStream;
  }
}
