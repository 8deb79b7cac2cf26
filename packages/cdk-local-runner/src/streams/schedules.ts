import { setTimeout as sleep } from 'node:timers/promises';
import { collect } from '../gateway/answer.ts';
import type { Functions } from '../runtime/functions.ts';
import type { StackSpec } from '../template/stack.ts';

interface SchedulesOptions {
  readonly stack: Pick<StackSpec, 'schedules'>;
  readonly functions: Functions;
  /** The longest pause between two invocations, in ms. */
  readonly maxPauseMs: number;
  /** Takes what an invocation has thrown. */
  readonly failed: (error: unknown) => void;
}

/**
 * Wakes functions by their schedules, each of them once at a time.
 *
 * @returns ends it, after those that are at work
 */
export const runSchedules = ({
  stack,
  functions,
  maxPauseMs,
  failed,
}: SchedulesOptions): (() => Promise<void>) => {
  const ending = new AbortController();
  const { signal } = ending;
  const running = stack.schedules.map(async ({ function: spec, everyMs }) => {
    while (!signal.aborted) {
      await sleep(Math.min(everyMs, maxPauseMs), undefined, { signal }).catch(() => {});
      if (signal.aborted) return;
      try {
        await collect(await functions.getFunction(spec).invoke('{}', new AbortController().signal));
      } catch (error) {
        failed(error);
      }
    }
  });
  return async () => {
    ending.abort();
    await Promise.all(running);
  };
};
