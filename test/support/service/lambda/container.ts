import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import {
  type Container,
  type ContainerOptions,
  createEnvironment,
  FunctionError,
  forwardLines,
  type Output,
} from 'cdk-local-runner/runtime';

const findClient = (): string => {
  try {
    return import.meta.resolve('aws-lambda-ric');
  } catch (cause) {
    throw new Error('aws-lambda-ric is not there, under which bundles are to run: run npm ci', { cause });
  }
};

/** The URL of AWS's client. */
const client = findClient();

/** How the runtime API takes a streamed answer. */
export type Taking =
  /** To its end, also where nobody wants it any more. */
  | 'whole'
  /** Nothing behind the first 64 KB, until the handler has ended. */
  | 'stalling'
  /** It breaks the connection off behind the first 64 KB. */
  | 'breaking';

/** An invocation until its handler has ended. */
interface Invocation {
  readonly id: string;
  readonly event: string;
  readonly deadline: number;
  /** The request with the answer, as soon as it comes. */
  readonly answer: PromiseWithResolvers<IncomingMessage>;
  readonly finish: () => void;
}

const toFunctionError = (json: string): FunctionError => {
  const { errorType, errorMessage } = JSON.parse(json) as Record<string, string>;
  return new FunctionError({ name: errorType ?? 'Error', message: errorMessage ?? '' });
};

/** The error that a streamed answer ended in, as its trailers say. */
const trailingFailure = ({ trailers }: IncomingMessage): FunctionError | undefined => {
  const body = trailers['lambda-runtime-function-error-body'];
  return body === undefined ? undefined : toFunctionError(Buffer.from(body, 'base64').toString('utf8'));
};

/** Reads what is left and drops it. */
const drain = async (rest: Output): Promise<void> => {
  for await (const _ of rest);
};

/**
 * A process that runs a function's bundle under AWS's own runtime interface client, and the runtime
 * API that it asks for invocations
 * (https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html).
 */
export class AwsContainer implements Container {
  readonly started: Promise<void>;
  readonly options: ContainerOptions;
  readonly #taking: () => Taking;
  readonly #server = createServer((req, res) => this.#serve(req, res));
  readonly #start = Promise.withResolvers<void>();
  #process: ChildProcess | undefined;
  #invocation: Invocation | undefined;
  /** Resolves when the handler of the latest invocation has ended. */
  #ended = Promise.withResolvers<void>();
  /** The request for the next invocation, while there is none. */
  #waiting: ServerResponse | undefined;
  #dead = false;

  /** @param taking how a streamed answer is taken */
  constructor(options: ContainerOptions, taking: () => Taking = () => 'whole') {
    this.options = options;
    this.#taking = taking;
    this.started = this.#start.promise;
    this.#server.listen(0, '127.0.0.1', () => this.#run());
  }

  get dead(): boolean {
    return this.#dead;
  }

  invoke(event: string, signal: AbortSignal, idle: () => void): Output {
    const ms = this.options.spec.timeoutSeconds * 1000;
    const timer = setTimeout(() => this.terminate(`Task timed out after ${ms / 1000} seconds`), ms);
    const answer = Promise.withResolvers<IncomingMessage>();
    answer.promise.catch(() => {});
    const finish = () => {
      clearTimeout(timer);
      this.#invocation = undefined;
      idle();
    };
    this.#ended = Promise.withResolvers();
    this.#invocation = { id: randomUUID(), event, deadline: Date.now() + ms, answer, finish };
    if (this.#dead) this.#die('Runtime exited');
    else this.#bring();
    return this.#output(answer.promise, signal);
  }

  async terminate(reason: string): Promise<void> {
    this.#die(reason);
    if (this.#process && this.#process.exitCode === null && this.#process.signalCode === null) {
      this.#process.kill('SIGKILL');
      await once(this.#process, 'exit');
    }
    this.#server.closeAllConnections();
    this.#server.close();
  }

  #run(): void {
    if (this.#dead) return;
    const { spec, log } = this.options;
    const address = this.#server.address();
    const port = typeof address === 'object' && address ? address.port : 0;
    const run = spawn(process.execPath, [`${import.meta.dirname}/client.ts`, client], {
      cwd: spec.folder,
      env: {
        ...createEnvironment(this.options),
        AWS_LAMBDA_RUNTIME_API: `127.0.0.1:${port}`,
        AWS_LAMBDA_LOG_GROUP_NAME: `/aws/lambda/${spec.name}`,
        AWS_LAMBDA_LOG_STREAM_NAME: 'test',
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    forwardLines(run.stdout, log);
    forwardLines(run.stderr, log);
    run.once('exit', (code) => this.#die(`Runtime exited with error: exit status ${code}`));
    this.#process = run;
  }

  #serve(req: IncomingMessage, res: ServerResponse): void {
    const [kind = '', id] = (req.url ?? '').split('/').slice(-2).reverse();
    if (kind === 'next') {
      this.#waiting = res;
      this.#ended.resolve();
      this.#start.resolve();
      this.#invocation?.finish();
    } else if (id === 'init') {
      text(req).then((json) => {
        this.#start.reject(toFunctionError(json));
        res.writeHead(202).end('{}');
      });
    } else if (kind === 'error') {
      text(req).then((json) => {
        this.#invocation?.answer.reject(toFunctionError(json));
        res.writeHead(202).end('{}');
      });
    } else {
      req.once('end', () => res.writeHead(202, { connection: 'close' }).end('{}'));
      // Of a connection that breaks off its reader learns.
      req.on('error', () => {});
      this.#invocation?.answer.resolve(req);
    }
  }

  /** Answers the client's request for the next invocation. */
  #bring(): void {
    const { id, event, deadline } = this.#invocation ?? {};
    this.#waiting?.writeHead(200, {
      'lambda-runtime-aws-request-id': id,
      'lambda-runtime-deadline-ms': deadline,
      'lambda-runtime-invoked-function-arn': this.options.spec.arn,
      'lambda-runtime-trace-id': 'Root=1-00000000-000000000000000000000000;Sampled=0',
    });
    this.#waiting?.end(event);
    this.#waiting = undefined;
  }

  /** Yields the answer. It throws the function's failure, or why nobody needs the rest. */
  async *#output(given: Promise<IncomingMessage>, signal: AbortSignal): Output {
    const { promise: gone, reject } = Promise.withResolvers<never>();
    gone.catch(() => {});
    const leave = () => reject(signal.reason);
    if (signal.aborted) leave();
    signal.addEventListener('abort', leave, { once: true });
    const bytes = this.#readBytes(given);
    try {
      for (;;) {
        const chunk = await Promise.race([bytes.next(), gone]);
        if (chunk.done) return;
        yield chunk.value;
      }
    } finally {
      signal.removeEventListener('abort', leave);
      drain(bytes).catch(() => {});
    }
  }

  async *#readBytes(given: Promise<IncomingMessage>): Output {
    const req = await given;
    const streamed = req.headers['lambda-runtime-function-response-mode'] === 'streaming';
    let taken = 0;
    try {
      for await (const chunk of req) {
        yield chunk;
        taken += chunk.length;
        if (!streamed || taken < 64 * 1024) continue;
        if (this.#taking() === 'breaking') req.destroy();
        if (this.#taking() === 'stalling') await this.#ended.promise;
      }
    } catch (error) {
      throw new FunctionError({ name: 'Error', message: String(error) });
    }
    const failure = trailingFailure(req);
    if (failure) throw failure;
  }

  #die(reason: string): void {
    this.#dead = true;
    const error = new FunctionError({ name: 'Runtime.ExitError', message: reason });
    this.#start.reject(error);
    this.started.catch(() => {});
    this.#invocation?.answer.reject(error);
    this.#invocation?.finish();
  }
}
