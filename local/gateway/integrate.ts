import { pipeline } from 'node:stream/promises';
import { FunctionThrottled } from '../runtime/errors.ts';
import type { LambdaFunction } from '../runtime/function.ts';
import type { Output } from '../runtime/worker.ts';
import type { RouteSpec } from '../template/routes.ts';
import { collect, parseAnswer, parseMetadata } from './answer.ts';
import { type Exchange, sendWhole, setHead } from './exchange.ts';
import { partOutput } from './metadata.ts';
import { Refusal } from './refusal.ts';

/**
 * Passes a streamed answer on as it comes; breaks the connection off where it fails after its head.
 */
const sendStreamed = async ({ res }: Exchange, output: Output): Promise<void> => {
  const { metadata, body } = await partOutput(output);
  setHead(res, parseMetadata(metadata));
  res.flushHeaders();
  await pipeline(body, res);
};

/**
 * Invokes the function of a route with an event and sends its answer.
 *
 * @param event the event as JSON
 * @throws Refusal where the function is busy, fails, gives no valid answer or takes too long;
 * ClientGone
 */
export const integrate = async (
  exchange: Exchange,
  route: RouteSpec,
  lambda: LambdaFunction,
  event: string,
): Promise<void> => {
  const { ending } = exchange;
  const timeUp = new Refusal('INTEGRATION_TIMEOUT', `no complete answer within ${route.timeoutMs} ms`);
  const timer = setTimeout(() => ending.abort(timeUp), route.timeoutMs);
  try {
    const output = await lambda.invoke(event, ending.signal);
    if (route.streaming) await sendStreamed(exchange, output);
    else await sendWhole(exchange, parseAnswer(await collect(output)));
  } catch (error) {
    ending.signal.throwIfAborted();
    throw new Refusal(error instanceof FunctionThrottled ? 'THROTTLED' : 'INTEGRATION_FAILURE', error);
  } finally {
    clearTimeout(timer);
  }
};
