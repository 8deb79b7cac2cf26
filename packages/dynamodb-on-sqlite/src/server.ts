import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { DiskReport, guarded, loopback, type Signing, signatureRefusal } from 'aws-stand-in';
import { Database } from './database.ts';
import { internal, StoreError, unsigned } from './errors.ts';
import { Operations } from './operations.ts';

/** DynamoDB's limit of a request, in bytes. */
const maxRequestBytes = 16 * 1024 * 1024;

/** How often expired items are removed, in ms. AWS does it within days. */
const expiryMs = 5000;

/** A store that answers over HTTP, as DynamoDB does. */
export interface StoreServer {
  readonly port: number;
  /** Answers what there is, and closes the database. */
  stop(): Promise<void>;
}

/** An answer that waits until what was written before it is on the disk. */
interface Waiting {
  readonly response: ServerResponse;
  readonly status: number;
  readonly body: string;
}

const send = ({ response, status, body }: Waiting): void => {
  const bytes = Buffer.from(body);
  response
    .writeHead(status, { 'content-type': 'application/x-amz-json-1.0', 'content-length': bytes.length })
    .end(bytes);
};

const refuse = (response: ServerResponse, { status, body }: StoreError): void =>
  send({ response, status, body });

const isOfSqlite = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ERR_SQLITE_ERROR';

/**
 * Does requests one after the other, and answers once what they wrote is on the disk. Those that came
 * in together share one commit, and so one wait for the disk.
 */
class Committer {
  readonly #database: Database;
  readonly #operations: Operations;
  readonly #report: DiskReport | undefined;
  #waiting: Waiting[] = [];
  #isScheduled = false;

  constructor(database: Database, report: DiskReport | undefined) {
    this.#database = database;
    this.#operations = new Operations(database);
    this.#report = report;
  }

  answer(target: string, request: string, response: ServerResponse): void {
    const [status, body] = this.#run(target, request);
    // A reader must not see what may yet be lost, so reads wait for the writes before them too.
    if (this.#database.isWriting) {
      this.#waiting.push({ response, status, body });
      this.#schedule();
    } else send({ response, status, body });
  }

  #run(target: string, request: string): readonly [status: number, body: string] {
    try {
      return [200, this.#operations.run(target, request)];
    } catch (error) {
      if (error instanceof StoreError && error.status < 500) return [error.status, error.body];
      return this.#fail(error);
    }
  }

  /** A failure of the database leaves nothing of what was not committed. */
  #fail(cause: unknown): readonly [status: number, body: string] {
    const { status, body } = cause instanceof StoreError ? cause : internal(cause);
    if (isOfSqlite(cause)) this.#report?.failed(cause);
    this.#database.rollback();
    for (const { response } of this.#waiting.splice(0)) send({ response, status, body });
    return [status, body];
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    // All requests that have arrived are read before it runs.
    setImmediate(() => this.flush());
  }

  /** Commits, and sends the answers that waited for it. */
  flush(): void {
    this.#isScheduled = false;
    if (!this.#database.isWriting) return;
    try {
      this.#database.commit();
    } catch (error) {
      this.#fail(error);
      return;
    }
    this.#report?.succeeded();
    for (const waiting of this.#waiting.splice(0)) send(waiting);
  }

  expire(): void {
    try {
      this.#operations.expire(Date.now());
      this.flush();
    } catch (error) {
      this.#fail(error);
    }
  }
}

const read = (request: IncomingMessage, done: (body: string) => void, tooLarge: () => void): void => {
  const chunks: Buffer[] = [];
  let bytes = 0;
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > maxRequestBytes) {
      tooLarge();
      request.destroy();
    } else chunks.push(chunk);
  });
  request.on('end', () => {
    const [only, ...more] = chunks;
    done((only && more.length === 0 ? only : Buffer.concat(chunks)).toString());
  });
};

export interface ServerOptions {
  /** Where the data are kept. @default - in memory */
  readonly file?: string;
  /** What requests have to be signed with. @default - any signature will do, for tests */
  readonly signing?: Signing;
  /** Takes a line when the file cannot be written, and when it can again. @default - dropped */
  readonly notify?: (line: string) => void;
  /** The most pages of 8 KB that the file may have. @default - as many as the disk takes */
  readonly maxPages?: number;
}

/**
 * Starts a store on a free port of the loopback address.
 *
 * @throws Error if the file cannot be used
 */
export const startServer = async ({
  file,
  signing,
  notify = () => {},
  maxPages,
}: ServerOptions = {}): Promise<StoreServer> => {
  const database = new Database(file, maxPages);
  const committer = new Committer(database, file === undefined ? undefined : new DiskReport(file, notify));
  const serve: RequestListener = (request, response) => {
    const target = request.headers['x-amz-target'];
    if (request.method !== 'POST' || typeof target !== 'string') {
      request.resume();
      response
        .writeHead(request.method === 'POST' ? 400 : 200, { 'content-type': 'text/plain' })
        .end('the embedded store\n');
      return;
    }
    read(
      request,
      (body) => {
        const refusal = signing && signatureRefusal(signing, request, body);
        if (refusal) refuse(response, unsigned(refusal));
        else committer.answer(target, body, response);
      },
      () => response.writeHead(413).end(),
    );
  };
  const server = createServer({ keepAliveTimeout: 0, requestTimeout: 0 }, guarded(serve));
  server.listen(0, loopback);
  await once(server, 'listening');
  const timer = setInterval(() => committer.expire(), expiryMs);
  const address: AddressInfo | string | null = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port is free');
  return {
    port: address.port,
    stop: async () => {
      clearInterval(timer);
      const closed = once(server, 'close');
      server.close();
      committer.flush();
      server.closeAllConnections();
      await closed;
      database.close();
    },
  };
};
