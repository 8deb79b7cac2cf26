import { Writable } from 'node:stream';

type Written = (error?: Error | null) => void;

/** How many NUL bytes part the metadata from the body. */
export const delimiterLength = 8;

const isBytesOrText = (chunk: unknown): boolean => typeof chunk === 'string' || chunk instanceof Uint8Array;

/**
 * The stream that Lambda's Node runtime hands to a streaming handler. What is written while the reader has not taken
 * the last piece is held back and makes `write` give false, as on a connection.
 */
export class ResponseStream extends Writable {
  /** Called with a function that writes, before the first thing that the handler writes. */
  _onBeforeFirstWrite?: (write: (chunk: string | Uint8Array) => void) => void;
  readonly #send: (bytes: Uint8Array) => void;
  #begun = false;
  #taken: Written | undefined;

  /** @param send sends a piece to the reader, who then calls {@link more} */
  constructor(send: (bytes: Uint8Array) => void) {
    super();
    this.#send = send;
    // A handler that doesn't listen shall not end its whole process because its reader went away.
    this.on('error', () => {});
  }

  /** The reader has taken the last piece. */
  more(): void {
    const taken = this.#taken;
    this.#taken = undefined;
    taken?.();
  }

  /** Lambda's own consumers look at the content type, API Gateway does not. */
  setContentType(_contentType: string): void {
    if (this.#begun) throw new Error('Cannot set content-type, too late.');
  }

  override write(chunk: unknown, encoding?: BufferEncoding | Written, callback?: Written): boolean {
    if (!this.#begun) {
      this.#begun = true;
      this._onBeforeFirstWrite?.((first) => super.write(first));
    }
    const data = isBytesOrText(chunk) ? chunk : JSON.stringify(chunk);
    return typeof encoding === 'string' ? super.write(data, encoding, callback) : super.write(data, encoding);
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, callback: Written): void {
    this.#pass([chunk], callback);
  }

  override _writev(chunks: readonly { chunk: Buffer }[], callback: Written): void {
    this.#pass(
      chunks.map(({ chunk }) => chunk),
      callback,
    );
  }

  #pass(chunks: readonly Buffer[], taken: Written): void {
    const bytes = Buffer.concat(chunks);
    if (bytes.length === 0) {
      taken();
    } else {
      this.#taken = taken;
      this.#send(bytes);
    }
  }
}

const streaming = Symbol.for('aws.lambda.runtime.handler.streaming');

/** Whether `streamifyResponse` made the handler. */
export const isStreaming = (handler: object): boolean => streaming in handler;

/** What Lambda's Node runtime has as the global `awslambda`. */
export const awslambda = {
  streamifyResponse: <Handler extends object>(handler: Handler): Handler =>
    Object.assign(handler, { [streaming]: 'response' }),

  HttpResponseStream: {
    /** Has the stream begin with the metadata of an HTTP answer (its status, headers and cookies) and eight NUL bytes. */
    from: (stream: ResponseStream, metadata: unknown): ResponseStream => {
      stream.setContentType('application/vnd.awslambda.http-integration-response');
      const json = JSON.stringify(metadata);
      stream._onBeforeFirstWrite = (write) => {
        write(json);
        write(new Uint8Array(delimiterLength));
      };
      return stream;
    },
  },
};
