import { finished, pipeline, type Readable, type Transform, type Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Limits } from './limits.ts';
import { Output } from './output.ts';

/** A stream that compresses, as those of `node:zlib` do. */
export interface Encoder extends Transform {
  /** The bytes that it has worked on. */
  readonly bytesWritten: number;
}

/** How long the last bytes have to pass buffers that cannot be seen, in milliseconds. */
const lingerMs = 100;

/** The way of an answer's bytes to its client, through a compressor perhaps. */
export class Sending {
  readonly #limits: Limits;
  readonly #encoder: Encoder | undefined;
  readonly #output: Output;
  readonly #client: Writable;
  #given = 0;

  /** @param client the stream that Lambda gives for the answer */
  constructor(encoder: Encoder | undefined, client: Writable, limits: Limits) {
    this.#limits = limits;
    this.#encoder = encoder;
    this.#client = client;
    this.#output = new Output(limits.stalledMs);
  }

  /** Whether so many bytes more still fit into the answer, even if they cannot be compressed. */
  fits(bytes: number): boolean {
    return this.#output.passed + this.#underway + bytes <= this.#limits.answerBytes;
  }

  /** Notes that the source gives so many bytes. */
  gives(bytes: number): void {
    this.#given += bytes;
  }

  /** Resolves when all that was given is taken, or will not be any more. */
  async taken(): Promise<void> {
    const until = performance.now() + this.#limits.stalledMs;
    const buffered = () =>
      this.#underway + (this.#encoder?.readableLength ?? 0) + this.#output.readableLength;
    while (buffered() + this.#client.writableLength > 0) {
      if (this.#output.destroyed || performance.now() > until) return;
      await sleep(5);
    }
    await sleep(lingerMs);
  }

  /**
   * The stream that the client gets. A failure of the source, or its own, destroys both. So does the
   * client's end: one who left before the answer began never reads the stream, and the error of its
   * watch would end the process a minute later, with whatever request it serves then.
   */
  from(source: Readable): Readable {
    // Its reader sees a failure. Nobody else needs to know.
    const done = () => {};
    finished(this.#client, { readable: false }, () => this.#output.destroy());
    return this.#encoder
      ? pipeline(source, this.#encoder, this.#output, done)
      : pipeline(source, this.#output, done);
  }

  /** The bytes that were given and have not been compressed yet, or have not come to the output. */
  get #underway(): number {
    return this.#given - (this.#encoder?.bytesWritten ?? this.#output.passed);
  }
}
