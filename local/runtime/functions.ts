import { setTimeout as sleep } from 'node:timers/promises';
import type { FunctionSpec } from '../template/functions.ts';
import { type Concurrency, LambdaFunction } from './function.ts';

/** The functions of a stack. */
export interface Functions {
  /** Throws where the stack has no such function. */
  of(spec: Pick<FunctionSpec, 'arn'>): LambdaFunction;
  /** Gives the functions a moment for what they do after their answers. */
  settle(): Promise<void>;
  /** Ends the processes of all functions with what they are doing, as if they had crashed. */
  kill(): Promise<void>;
}

/** How to run a stack's functions. */
export interface FunctionsOptions {
  readonly specs: readonly FunctionSpec[];
  /** Beside each function's own environment. */
  readonly environment: Readonly<Record<string, string>>;
  /** Takes each line that a function writes, with the function's name. */
  readonly log: (source: string, line: string) => void;
  readonly concurrency?: Concurrency;
}

const graceMs = 3000;

/** Makes the functions of a stack; each starts when it is invoked. */
export const makeFunctions = ({ specs, environment, log, concurrency }: FunctionsOptions): Functions => {
  const functions = new Map(
    specs.map((spec) => [
      spec.arn,
      new LambdaFunction({ spec, environment, log: (line) => log(spec.name, line) }, concurrency),
    ]),
  );
  return {
    of: ({ arn }) => {
      const found = functions.get(arn);
      if (!found) throw new Error(`the stack has no function ${arn}`);
      return found;
    },
    settle: async () => {
      const until = performance.now() + graceMs;
      const busy = () => [...functions.values()].some((lambda) => lambda.busy);
      while (busy() && performance.now() < until) await sleep(10);
    },
    kill: async () => {
      await Promise.all([...functions.values()].map((lambda) => lambda.kill()));
    },
  };
};
