import { Transform, type TransformCallback } from 'node:stream';

/** Progress shows in pieces of so many bytes: a slow reader is not taken for one who has left. */
const pieceBytes = 64 * 1024;

/** Nobody takes an answer any more. */
export class Stalled extends Error {
  override readonly name = 'Stalled';
}

/**
 * The last stream of an answer. It passes on bytes, counts them, and ends in an error if nothing is
 * taken for a while. This shows a client who has gone where the back-pressure reaches us: Lambda
 * does not tell.
 */
export class Output extends Transform {
  readonly #stalledMs: number;
  #watch: NodeJS.Timeout | undefined;
  #passed = 0;

  /** @param stalledMs how long nothing may be taken, in milliseconds */
  constructor(stalledMs: number) {
    super({ highWaterMark: pieceBytes });
    this.#stalledMs = stalledMs;
  }

  /** The bytes that have gone in. */
  get passed(): number {
    return this.#passed;
  }

  /** The bytes that have gone out. */
  get taken(): number {
    return this.#passed - this.readableLength;
  }

  override _transform(bytes: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    this.#watch ??= this.#startWatch();
    this.#passed += bytes.length;
    for (let at = 0; at < bytes.length; at += pieceBytes) this.push(bytes.subarray(at, at + pieceBytes));
    done();
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    clearInterval(this.#watch);
    super._destroy(error, callback);
  }

  #startWatch(): NodeJS.Timeout {
    let taken = 0;
    let takenAt = performance.now();
    const look = () => {
      const now = performance.now();
      if (this.readableLength === 0 || this.taken !== taken) takenAt = now;
      taken = this.taken;
      if (now - takenAt >= this.#stalledMs) this.destroy(new Stalled('nobody takes the answer any more'));
    };
    return setInterval(look, this.#stalledMs / 10).unref();
  }
}
