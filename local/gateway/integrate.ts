import type { ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { FunctionThrottled } from '../runtime/errors.ts';
import type { LambdaFunction } from '../runtime/function.ts';
import type { Output } from '../runtime/worker.ts';
import type { RouteSpec } from '../template/routes.ts';
import { collect, parseAnswer, parseMetadata } from './answer.ts';
import { type Exchange, sendComplete, setHead } from './exchange.ts';
import { splitOutput } from './metadata.ts';
import { Refusal } from './refusal.ts';

/** How long a client may take to read what came before a failure, in ms. */
const readMs = 1000;

/** An answer that fails only once the client has what came before. */
async function* failingLast(body: Output, res: ServerResponse): Output {
  try {
    yield* body;
  } catch (error) {
    const until = performance.now() + readMs;
    while (res.writableLength > 0 && !res.destroyed && performance.now() < until) await sleep(5);
    throw error;
  }
}

/** Forwards a streamed answer as it comes. If it fails after its head, the connection is closed. */
const sendStreamed = async ({ res }: Exchange, output: Output): Promise<void> => {
  const { metadata, body } = await splitOutput(output);
  setHead(res, parseMetadata(metadata));
  res.flushHeaders();
  await pipeline(failingLast(body, res), res);
};

/**
 * Invokes the function of a route with an event and sends its answer.
 *
 * @param event the event as JSON
 * @throws Refusal if the function is busy, fails, takes too long or gives an invalid answer;
 * ClientGone
 */
export const integrate = async (
  exchange: Exchange,
  route: RouteSpec,
  lambda: LambdaFunction,
  event: string,
): Promise<void> => {
  const { ending } = exchange;
  const timeout = new Refusal('INTEGRATION_TIMEOUT', `no complete answer within ${route.timeoutMs} ms`);
  const timer = setTimeout(() => ending.abort(timeout), route.timeoutMs);
  try {
    const output = await lambda.invoke(event, ending.signal);
    if (route.streaming) await sendStreamed(exchange, output);
    else await sendComplete(exchange, parseAnswer(await collect(output)));
  } catch (error) {
    ending.signal.throwIfAborted();
    throw new Refusal(error instanceof FunctionThrottled ? 'INTEGRATION_FAILURE' : 'BAD_GATEWAY', error);
  } finally {
    clearTimeout(timer);
  }
};
