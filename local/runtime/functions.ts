import { setTimeout as sleep } from 'node:timers/promises';
import type { FunctionSpec } from '../template/functions.ts';
import { type Concurrency, LambdaFunction } from './function.ts';
import { type PoolLimits, WorkerPool } from './worker-pool.ts';

/** The functions of a stack. */
export interface Functions {
  /** @throws Error if the stack has no such function */
  of(spec: Pick<FunctionSpec, 'arn'>): LambdaFunction;
  /**
   * Waits up to three seconds until no function is busy, because some work on after their answers.
   */
  waitUntilIdle(): Promise<void>;
  /** Ends the threads of all functions at once, as a crash would. */
  kill(): Promise<void>;
}

/** How to run a stack's functions. */
export interface FunctionsOptions {
  readonly specs: readonly FunctionSpec[];
  /** Variables for every function, beside its own. */
  readonly environment: Readonly<Record<string, string>>;
  /** Takes each line that a function writes, with the function's name. */
  readonly log: (source: string, line: string) => void;
  readonly concurrency?: Concurrency;
  /** The bounds on the workers of all functions together. @default - `defaultPoolLimits` */
  readonly poolLimits?: PoolLimits;
}

const graceMs = 3000;

/** Makes the functions of a stack. Each starts at its first invocation. */
export const makeFunctions = ({
  specs,
  environment,
  log,
  concurrency,
  poolLimits,
}: FunctionsOptions): Functions => {
  const pool = new WorkerPool(poolLimits);
  const functions = new Map(
    specs.map((spec) => [
      spec.arn,
      new LambdaFunction({ spec, environment, log: (line) => log(spec.name, line) }, concurrency, pool),
    ]),
  );
  return {
    of: ({ arn }) => {
      const found = functions.get(arn);
      if (!found) throw new Error(`the stack has no function ${arn}`);
      return found;
    },
    waitUntilIdle: async () => {
      const until = performance.now() + graceMs;
      const busy = () => [...functions.values()].some((lambda) => lambda.busy);
      while (busy() && performance.now() < until) await sleep(10);
    },
    kill: async () => {
      await Promise.all([...functions.values()].map((lambda) => lambda.kill()));
    },
  };
};
