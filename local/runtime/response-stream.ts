import { Writable } from 'node:stream';

type Written = (error?: Error | null) => void;

/** How many NUL bytes part the metadata from the body. */
export const delimiterLength = 8;

/** How many bytes may be on their way to the reader: as much as a connection holds. */
const windowBytes = 64 * 1024;

const isBytesOrText = (chunk: unknown): boolean => typeof chunk === 'string' || chunk instanceof Uint8Array;

/**
 * The stream that Lambda's Node runtime hands to a streaming handler. As on a connection, what is
 * written goes out at once, until the reader is 64 KiB behind; from then on it is held back, and
 * `write` tells the handler to wait.
 */
export class ResponseStream extends Writable {
  /** Called with a function that writes, before the first thing that the handler writes. */
  _onBeforeFirstWrite?: (write: (chunk: string | Uint8Array) => void) => void;
  readonly #send: (bytes: Uint8Array) => void;
  #begun = false;
  #bytesOnTheirWay = 0;
  /** Lets the handler go on. */
  #goOn: Written | undefined;

  /** @param send sends bytes to the reader, who tells {@link taken} of them */
  constructor(send: (bytes: Uint8Array) => void) {
    super();
    this.#send = send;
    // A handler that doesn't listen shall not end its whole process because its reader went away.
    this.on('error', () => {});
  }

  /** The reader has taken so many bytes. */
  taken(bytes: number): void {
    this.#bytesOnTheirWay -= bytes;
    this.#letGoOn();
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

  #pass(chunks: readonly Buffer[], goOn: Written): void {
    const bytes = Buffer.concat(chunks);
    this.#bytesOnTheirWay += bytes.length;
    if (bytes.length > 0) this.#send(bytes);
    this.#goOn = goOn;
    this.#letGoOn();
  }

  #letGoOn(): void {
    if (this.#bytesOnTheirWay >= windowBytes) return;
    const goOn = this.#goOn;
    this.#goOn = undefined;
    goOn?.();
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
    /**
     * Has the stream begin with the metadata of an HTTP answer (its status, headers and cookies)
     * and eight NUL bytes.
     */
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
