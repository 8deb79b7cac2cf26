import {
  finished,
  pipeline,
  type Readable,
  Transform,
  type TransformCallback,
  type Writable,
} from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { constants, createGzip, createZstdCompress } from 'node:zlib';
import { type ErrorBody, ServiceError } from '../../../foundations/wire/index.ts';
import type { Details, RequestLog } from '../log/request-log.ts';
import { jsonText, type Piece, utf8 } from './answer.ts';
import type { Coding } from './negotiate.ts';

/**
 * Bounds on streamed answers. Lambda ends a stream at 200 MB. API Gateway ends one that has been
 * silent for five minutes, other proxies after one. docs/decisions/0170 has the reasons.
 */
export const limits = {
  /** How long an answer may be silent before white space is sent, in milliseconds. */
  silenceMs: 50_000,
  /** How long nothing may be taken of an answer before it is given up, in milliseconds. */
  stalledMs: 60_000,
  /** The most bytes of an answer, as they are sent: a little less, for the message at its end. */
  answerBytes: 199_000_000,
} as const;

/** The bounds, of which tests have their own. */
export type Limits = { readonly [name in keyof typeof limits]: number };

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
  expects(bytes: number): void {
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

/**
 * Has one chunk written at a time. In Node 24 a stream of zstd that is ended while chunks wait
 * writes a second, empty frame, which httpx cannot read. Node's streams take this option, though
 * their types of zstd leave it out.
 */
const oneAtATime = { writableHighWaterMark: 1 };

/**
 * Makes a compressor that flushes whatever is written to it, so that no line waits for the next.
 * Both have the levels that Node gives them: 6 of gzip, 3 of zstd.
 */
export const compressor = (coding: Coding): Encoder =>
  coding === 'zstd'
    ? createZstdCompress({ ...oneAtATime, flush: constants.ZSTD_e_flush })
    : createGzip({ flush: constants.Z_SYNC_FLUSH });

/** Whether a promise is still pending after so many milliseconds. */
const isPendingAfter = (promise: Promise<unknown>, ms: number): Promise<boolean> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, ms, true);
    const settle = () => {
      clearTimeout(timer);
      resolve(false);
    };
    promise.then(settle, settle);
  });

/**
 * Puts a filler among items whenever the next one takes long, so that nobody takes the silence for
 * the end.
 *
 * @param silenceMs how long one may wait for an item or a filler, in milliseconds
 */
export async function* keptAlive<T>(
  items: AsyncIterable<T>,
  filler: T,
  silenceMs: number,
): AsyncGenerator<T> {
  const iterator = items[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = iterator.next();
      while (await isPendingAfter(next, silenceMs)) yield filler;
      const item = await next;
      if (item.done) return;
      yield item.value;
    }
  } finally {
    await iterator.return?.();
  }
}

/** A streamed answer: its text as it becomes known, and its details for the log once it is over. */
export interface StreamedAnswer {
  /** Each piece ends where white space may stand: between two tokens of JSON, or with a line. */
  readonly text: AsyncIterable<Piece>;
  readonly logged: () => Details;
  /**
   * How many records the request skips, if it could go on with another number. @default - it cannot
   */
  readonly offset: () => number | undefined;
}

/** What an answer is sent with. */
export interface Delivery {
  readonly log: RequestLog;
  readonly sending: Sending;
  /** Aborted when nobody takes the answer any more. */
  readonly gone: AbortSignal;
  /** An empty line in the answer's form. */
  readonly emptyLine: string;
  readonly limits: Limits;
}

const tooLong = (answer: StreamedAnswer, rows: number): ServiceError => {
  const offset = answer.offset();
  const msg = 'an answer may have 200 MB, and this one has more';
  return new ServiceError(413, [
    offset === undefined
      ? { loc: ['body'], msg: `${msg}: ask for less`, type: 'answer_too_long' }
      : {
          loc: ['body', 'offset'],
          msg: `${msg}: the first ${rows} are above, continue with "offset": ${offset + rows}`,
          type: 'answer_too_long',
        },
  ]);
};

/**
 * Encodes an answer as UTF-8, with white space while it is silent, and tells the log how it ended.
 * A failure before the first byte is its reader's. A later one ends the answer in an error, which
 * breaks the connection off. If the status could not tell any more what is wrong with the request,
 * the error's body comes first.
 */
export async function* encoded(answer: StreamedAnswer, delivery: Delivery): AsyncGenerator<Buffer> {
  const { log, sending, gone, limits } = delivery;
  const emptyLine: Piece = [delivery.emptyLine];
  let bytes = 0;
  let rows = 0;
  let started = false;
  let answered = false;
  const give = (encoded: Buffer): Buffer => {
    started = true;
    bytes += encoded.length;
    sending.expects(encoded.length);
    return encoded;
  };
  let cut = false;
  log.describes(() => ({ status: 200, ...answer.logged(), ...(cut && { rows }), bytes }));
  try {
    for await (const piece of keptAlive(answer.text, emptyLine, limits.silenceMs)) {
      const bytesOfPiece = utf8(piece);
      cut = !sending.fits(bytesOfPiece.length);
      if (cut) throw tooLong(answer, rows);
      if (piece !== emptyLine) {
        answered = true;
        // Of all that was found so far, since nobody has asked for more yet.
        rows = answer.logged().rows ?? 0;
      }
      yield give(bytesOfPiece);
    }
    // A source that is asked to stop may end without an error.
    log.ends(gone.aborted ? 'gone' : 'answered');
  } catch (error) {
    if (started) {
      const refused = error instanceof ServiceError && error.status < 500;
      log.ends(gone.aborted ? 'gone' : refused ? 'refused' : 'broken', error);
      if (error instanceof ServiceError && !gone.aborted && (!answered || cut)) {
        const body: ErrorBody = { detail: error.detail };
        yield give(utf8([delivery.emptyLine, jsonText(body)]));
        await sending.taken();
      }
    }
    throw error;
  } finally {
    // Ended from outside, between two pieces. An end that was told before counts, and this one does
    // not.
    if (started) log.ends('gone');
  }
}

/**
 * Has a stream abort its source when it is destroyed, which means that nobody reads on. The
 * source's generator cannot be ended while it waits for storage.
 */
export const abortable = (stream: Readable, aborting: AbortController): Readable => {
  const destroy = stream._destroy.bind(stream);
  stream._destroy = (error, callback) => {
    if (!stream.readableEnded) aborting.abort();
    destroy(error, callback);
  };
  return stream;
};

/**
 * Awaits the first item of an iterable, so that its failure is the caller's, and then gives all
 * items.
 */
export const afterFirst = async <T>(items: AsyncIterable<T>): Promise<AsyncGenerator<T>> => {
  const iterator = items[Symbol.asyncIterator]();
  const first = await iterator.next();
  return (async function* () {
    try {
      for (let item = first; !item.done; item = await iterator.next()) yield item.value;
    } finally {
      await iterator.return?.();
    }
  })();
};
