/**
 * `DAYS_AHEAD=365 npm test` runs the tests as on a day to come: what they compare with a date of
 * today fails now rather than then. `vitest.config.ts` loads this module first, and `NODE_OPTIONS`
 * has every thread and process load it that a test starts. Servers that are not Node's, and the time
 * of files, stay at the machine's clock.
 */

import processes, { type ChildProcess } from 'node:child_process';
import { subscribe } from 'node:diagnostics_channel';
import type { ServerResponse } from 'node:http';
import { syncBuiltinESMExports } from 'node:module';
import threads, { type WorkerOptions } from 'node:worker_threads';

/** How far ahead the clock is, in milliseconds. */
export const aheadMs = Number(process.env.DAYS_AHEAD ?? 0) * 86_400_000;

/**
 * Sets the clock of this realm ahead. Its text runs in the browser as well, so it takes nothing from
 * outside.
 */
export const setClockAhead = (ms: number): void => {
  const RealDate = Date;
  const now = RealDate.now;
  RealDate.now = () => now() + ms;
  // `Date` keeps its prototype, so that dates from before are still instances of it.
  globalThis.Date = new Proxy(RealDate, {
    construct: (target, given, newTarget) =>
      Reflect.construct(target, given.length === 0 ? [target.now()] : given, newTarget),
    apply: (target) => new target(target.now()).toString(),
  });
  RealDate.prototype.constructor = globalThis.Date;
  const timeOrigin = performance.timeOrigin + ms;
  Object.defineProperty(performance, 'timeOrigin', { value: timeOrigin });
};

/** Servers say the time by a clock of their own, by which AWS SDKs correct theirs. */
const setServersAhead = (): void =>
  subscribe('http.server.request.start', (message) => {
    const { response } = message as { response: ServerResponse };
    response.setHeader('date', new Date().toUTCString());
  });

const option = `--require=${JSON.stringify(import.meta.filename)}`;

/** What has a thread or process load this module, also one with an environment of its own. */
const environment = (): Record<string, string> => {
  const { NODE_OPTIONS: given = '', DAYS_AHEAD = '' } = process.env;
  return { DAYS_AHEAD, NODE_OPTIONS: given.includes(option) ? given : `${given} ${option}`.trim() };
};

/** The part of a child process that all ways to start one go through, but for those that wait for it. */
interface Spawning {
  spawn(options: { envPairs?: string[] }): unknown;
}

const passOn = (): void => {
  Object.assign(process.env, environment());
  threads.Worker = class extends threads.Worker {
    constructor(file: string | URL, options: WorkerOptions = {}) {
      const { env } = options;
      super(file, typeof env === 'object' ? { ...options, env: { ...environment(), ...env } } : options);
    }
  };
  syncBuiltinESMExports();
  const children = processes.ChildProcess.prototype as ChildProcess & Spawning;
  const { spawn } = children;
  children.spawn = function (options) {
    const given = options.envPairs ?? [];
    const missing = Object.entries(environment()).filter(
      ([name]) => !given.some((pair) => pair.startsWith(`${name}=`)),
    );
    return spawn.call(this, {
      ...options,
      envPairs: [...given, ...missing.map(([name, value]) => `${name}=${value}`)],
    });
  };
};

if (Number.isNaN(aheadMs)) throw new Error(`DAYS_AHEAD is ${process.env.DAYS_AHEAD}: write a number of days`);
if (aheadMs !== 0) {
  setClockAhead(aheadMs);
  setServersAhead();
  passOn();
}
