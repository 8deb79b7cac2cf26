import { spawn } from 'node:child_process';
import { resolve } from 'node:path';
import type { LocalService } from './service.ts';

const example = resolve(import.meta.dirname, '../examples/agent.ts');

/**
 * Runs the example agent against the service. A failure is printed; the service goes on.
 *
 * @param signal ends the example
 */
export const runDemo = async (
  { url, key }: Pick<LocalService, 'url' | 'key'>,
  signal: AbortSignal,
): Promise<void> => {
  const child = spawn(process.execPath, [example], {
    env: { ...process.env, PENNYTRACE_URL: url, PENNYTRACE_KEY: key },
    stdio: ['ignore', 'inherit', 'inherit'],
    signal,
  });
  // A child that is killed also emits an error.
  child.on('error', () => {});
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  // A null code means it was ended by a signal: Ctrl-C in a terminal reaches the child before us.
  if (code !== 0 && code !== null && !signal.aborted)
    console.error('The example failed; the service goes on.');
};
