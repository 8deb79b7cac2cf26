/**
 * Runs inside a worker thread, as JavaScript (`bootstrap-code.ts`). It loads a function's module
 * and calls its handler as Lambda's Node runtime does.
 */
import { finished } from 'node:stream/promises';
import { pathToFileURL } from 'node:url';
import { getHeapStatistics } from 'node:v8';
import { parentPort, workerData } from 'node:worker_threads';
import type { Context } from 'aws-lambda';
import { awslambda, isStreaming, ResponseStream } from './response-stream.ts';
import type { FromWorker, ThrownError, ToWorker, WorkerSetup } from './worker.ts';

type Handler = (event: unknown, ...rest: unknown[]) => unknown;
type Invoke = Extract<ToWorker, { type: 'invoke' }>;

/** Lambda's limit for a buffered answer, in bytes. */
const maxAnswerBytes = 6_291_556;

const setup: WorkerSetup = workerData;

const post = (message: FromWorker): void => parentPort?.postMessage(message);

const toThrownError = (error: unknown): ThrownError => {
  if (!(error instanceof Error)) return { name: 'Error', message: String(error) };
  const { name, message, stack } = error;
  return { name, message, ...(stack !== undefined && { stack }) };
};

const isHandler = (value: unknown): value is Handler => typeof value === 'function';

const load = async (): Promise<Handler> => {
  const exports: Record<string, unknown> = await import(pathToFileURL(setup.module).href);
  const handler = exports[setup.export];
  if (!isHandler(handler)) throw new Error(`${setup.module} exports no function ${setup.export}`);
  return handler;
};

const createContext = ({ requestId, deadline }: Invoke): Partial<Context> => ({
  awsRequestId: requestId,
  callbackWaitsForEmptyEventLoop: true,
  functionName: setup.functionName,
  functionVersion: '$LATEST',
  getRemainingTimeInMillis: () => Math.max(0, deadline - Date.now()),
  invokedFunctionArn: setup.functionArn,
  logGroupName: `/aws/lambda/${setup.functionName}`,
  logStreamName: 'local',
  memoryLimitInMB: String(setup.memoryMb),
});

const answerBuffered = async (handler: Handler, invoke: Invoke): Promise<void> => {
  const result = await handler(JSON.parse(invoke.event), createContext(invoke));
  const bytes = Buffer.from(JSON.stringify(result ?? null));
  if (bytes.length > maxAnswerBytes)
    throw new Error(`Response payload size exceeded maximum allowed payload size (${maxAnswerBytes} bytes).`);
  post({ type: 'bytes', bytes });
};

/** The response stream of the current invocation, if its handler streams. */
let stream: ResponseStream | undefined;

type Ending = { readonly type: 'end' } | { readonly type: 'error'; readonly error: ThrownError };

/** Reports the end of an answer and the end of its handler, as one message if they coincide. */
const endReporter = () => {
  let reported = false;
  return {
    answered: (ending: Ending): void => {
      if (!reported) post({ ...ending, idle: false });
      reported = true;
    },
    done: (ending: Ending): void => {
      if (!reported) post({ ...ending, idle: true });
      else {
        if (ending.type === 'error') console.error(ending.error.stack ?? ending.error.message);
        post({ type: 'idle' });
      }
      reported = true;
    },
  };
};

type Answered = ReturnType<typeof endReporter>['answered'];

/** As in Lambda, the answer ends with its stream, even if the handler goes on. */
const answerStreaming = async (handler: Handler, invoke: Invoke, answered: Answered): Promise<void> => {
  const response = new ResponseStream((bytes) => post({ type: 'bytes', bytes }));
  stream = response;
  let failed = false;
  const streamEnd = finished(response).then(
    // Most handlers end within the next tick, and one message then says both.
    () => setImmediate(() => failed || answered({ type: 'end' })),
    (error: unknown) =>
      setImmediate(() => failed || answered({ type: 'error', error: toThrownError(error) })),
  );
  try {
    await handler(JSON.parse(invoke.event), response, createContext(invoke));
  } catch (error) {
    // Bytes written before the failure still go out, as on a connection.
    failed = true;
    response.end();
    await streamEnd;
    throw error;
  }
  await streamEnd;
};

const answer = async (handler: Handler, invoke: Invoke): Promise<void> => {
  const { answered, done } = endReporter();
  let ending: Ending = { type: 'end' };
  try {
    if (isStreaming(handler)) await answerStreaming(handler, invoke, answered);
    else await answerBuffered(handler, invoke);
  } catch (error) {
    ending = { type: 'error', error: toThrownError(error) };
  }
  stream = undefined;
  done(ending);
};

/** Less new memory than this is not worth a collection, which takes some 10 ms. */
const trimmedBytes = 2 * 1024 * 1024;

const usedBytes = (): number => {
  const { used_heap_size, external_memory } = getHeapStatistics();
  return used_heap_size + external_memory;
};

/**
 * Makes what collects garbage. V8 collects it when it needs room, so a thread without work would keep
 * for good what its invocations left, and the room that they took.
 */
const trimmer = (collectGarbage = globalThis.gc): (() => void) => {
  let kept = 0;
  return () => {
    if (usedBytes() < kept + trimmedBytes) return;
    collectGarbage?.({ type: 'major', flavor: 'last-resort' });
    kept = usedBytes();
  };
};

const listen = (handler: Handler): void => {
  parentPort?.on('message', (message: ToWorker) => {
    if (message.type === 'invoke') answer(handler, message);
    else if (message.type === 'trim') trim();
    else if (message.type === 'taken') stream?.taken(message.bytes);
    else stream?.destroy(new Error('nobody reads the answer any more'));
  });
  post({ type: 'ready' });
};

const trim = trimmer();
// Lambda has no such function.
Object.assign(globalThis, { awslambda, gc: undefined });
// A rejection that nobody handles ends the thread with the error, as it should.
load().then(listen);
