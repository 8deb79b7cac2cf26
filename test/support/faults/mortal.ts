import { AsyncLocalStorage } from 'node:async_hooks';
import type { Random } from '../values/random.ts';
import type { Fault } from './faults.ts';
import { faultPlan, planned, type SdkClient } from './faulty-client.ts';

/** The life of a function, which ends at one of its requests. */
interface Life {
  requests: number;
  readonly endsAt: number;
  /** Whether the other side has the last request. */
  readonly reaches: boolean;
  isOver: boolean;
}

const lives = new AsyncLocalStorage<Life>();

class Died extends Error {}

/**
 * Makes a request of the function at work, or has it die there: before the request, or after it.
 *
 * @throws Error if it dies, and from every later request of it
 */
export const mortalRequest = async <T>(request: () => Promise<T>): Promise<T> => {
  const life = lives.getStore();
  if (life?.isOver) throw new Died();
  if (life && life.requests++ === life.endsAt) {
    life.isOver = true;
    if (life.reaches) await request();
    throw new Died();
  }
  return request();
};

/**
 * Has the function at work die.
 *
 * @throws Error, and so does every later request of it
 */
export const dieNow = (): never => {
  const life = lives.getStore();
  if (life) life.isOver = true;
  throw new Died();
};

interface Handler {
  handle(request: unknown, options?: unknown): Promise<unknown>;
}

/** Has functions die at requests of a client. */
export const makeMortal = (client: SdkClient): void => {
  const inner = client.config.requestHandler as Handler;
  client.config.requestHandler = Object.assign(Object.create(inner) as Handler, {
    handle: (request: unknown, options: unknown) => mortalRequest(() => inner.handle(request, options)),
  });
};

const faults: readonly Fault[] = ['throttle', 'error', 'reset', 'down'];

/**
 * One invocation of a function: it may die at one of its first requests, and requests of its clients may
 * fail.
 *
 * @returns undefined if it died or threw
 */
export const invocation = async <T>(
  numbers: Random,
  work: () => Promise<T>,
): Promise<{ readonly result: T | undefined; readonly died: boolean }> => {
  const dies = numbers.chance(0.3);
  const life = {
    requests: 0,
    isOver: false,
    endsAt: dies ? numbers.below(14) : -1,
    reaches: numbers.chance(0.5),
  };
  const plan = faultPlan(() => (numbers.chance(0.04) ? (numbers.pick(faults) ?? 'none') : 'none'));
  try {
    const result = await lives.run(life, () => planned(plan, work));
    return { result, died: life.isOver };
  } catch {
    return { result: undefined, died: life.isOver };
  }
};
