import { Writable } from 'node:stream';

type WriteCallback = (error?: Error | null) => void;

/** The number of NUL bytes between metadata and body. */
export const delimiterLength = 8;

/** The most bytes in flight to the reader; a connection buffers about as much. */
const windowBytes = 64 * 1024;

const isBytesOrText = (chunk: unknown): boolean => typeof chunk === 'string' || chunk instanceof Uint8Array;

/**
 * The stream that a streaming handler gets of Lambda's Node runtime. Writes go out at once until the
 * reader is 64 KiB behind. Then they are held back, and `write` returns false so that the handler
 * waits.
 */
export class ResponseStream extends Writable {
  /** Called with a write function before the handler's first write. */
  _onBeforeFirstWrite?: (write: (chunk: string | Uint8Array) => void) => void;
  readonly #send: (bytes: Uint8Array) => void;
  #started = false;
  #bytesInFlight = 0;
  /** Completes the pending write, so that the handler goes on. */
  #resume: WriteCallback | undefined;

  /** @param send sends bytes to the reader, which confirms them with {@link taken} */
  constructor(send: (bytes: Uint8Array) => void) {
    super();
    this.#send = send;
    // Without a listener, a reader that disconnects would end the whole process.
    this.on('error', () => {});
  }

  /** Confirms that the reader has taken these bytes. */
  taken(bytes: number): void {
    this.#bytesInFlight -= bytes;
    this.#resumeIfRead();
  }

  /** Accepts a content type. Only Lambda's own consumers read it; API Gateway does not. */
  setContentType(_contentType: string): void {
    if (this.#started) throw new Error('Cannot set content-type, too late.');
  }

  override write(
    chunk: unknown,
    encoding?: BufferEncoding | WriteCallback,
    callback?: WriteCallback,
  ): boolean {
    if (!this.#started) {
      this.#started = true;
      this._onBeforeFirstWrite?.((first) => super.write(first));
    }
    const data = isBytesOrText(chunk) ? chunk : JSON.stringify(chunk);
    return typeof encoding === 'string' ? super.write(data, encoding, callback) : super.write(data, encoding);
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, callback: WriteCallback): void {
    this.#pass([chunk], callback);
  }

  override _writev(chunks: readonly { chunk: Buffer }[], callback: WriteCallback): void {
    this.#pass(
      chunks.map(({ chunk }) => chunk),
      callback,
    );
  }

  #pass(chunks: readonly Buffer[], resume: WriteCallback): void {
    const bytes = Buffer.concat(chunks);
    this.#bytesInFlight += bytes.length;
    if (bytes.length > 0) this.#send(bytes);
    this.#resume = resume;
    this.#resumeIfRead();
  }

  #resumeIfRead(): void {
    if (this.#bytesInFlight >= windowBytes) return;
    const resume = this.#resume;
    this.#resume = undefined;
    resume?.();
  }
}

const streaming = Symbol.for('aws.lambda.runtime.handler.streaming');

/** Whether `streamifyResponse` made the handler. */
export const isStreaming = (handler: object): boolean => streaming in handler;

/** The global `awslambda` of Lambda's Node runtime. */
export const awslambda = {
  streamifyResponse: <Handler extends object>(handler: Handler): Handler =>
    Object.assign(handler, { [streaming]: 'response' }),

  HttpResponseStream: {
    /**
     * Makes the stream begin with the metadata of an HTTP answer (status, headers and cookies) and
     * eight NUL bytes.
     */
    from: (stream: ResponseStream, metadata: unknown): ResponseStream => {
      stream.setContentType('application/vnd.awslambda.http-integration-response');
      const json = JSON.stringify(metadata);
      stream._onBeforeFirstWrite = (write) => {
        write(Buffer.concat([Buffer.from(json), Buffer.alloc(delimiterLength)]));
      };
      return stream;
    },
  },
};
