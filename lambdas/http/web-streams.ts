/*
 * Takes the place of `node:stream/web` in the bundles (lib/bundles.ts): middy alone imports it
 * there, to ask whether an answer is such a stream, which none is, and loading Node's takes 3 ms of
 * every cold start.
 */

/**
 * Stands for the class of web streams where something is asked to be one; the real one is loaded
 * when that is asked.
 */
// biome-ignore lint/complexity/noStaticOnlyClass: `instanceof` takes a class.
export class ReadableStream {
  static [Symbol.hasInstance](value: unknown): boolean {
    return value instanceof globalThis.ReadableStream;
  }
}
