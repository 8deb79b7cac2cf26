import { spawn } from 'node:child_process';
import { resolve } from 'node:path';
import type { LocalService } from './service.ts';

const example = resolve(import.meta.dirname, '../examples/agent.ts');

/**
 * Runs the example agent against the service, and says so where it fails: the service is none the
 * worse.
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
  // A child that is ended reports that as an error as well.
  child.on('error', () => {});
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  // Without a code it was ended from outside: a Ctrl-C in the terminal reaches it before the signal
  // does.
  if (code !== 0 && code !== null && !signal.aborted)
    console.error('The example failed; the service goes on.');
};
