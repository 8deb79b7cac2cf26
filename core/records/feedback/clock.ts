import type { Micros } from '../../foundations/wire/index.ts';

let last = 0;

/**
 * The time now, in microseconds. Within a process each call gives a later time than all before.
 */
export const nextMicros = (): Micros => {
  last = Math.max(last + 1, Date.now() * 1000);
  return last;
};
