import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';

const root = resolve(import.meta.dirname, '..');

/** The stack does not synthesize; the message is what the app printed. */
export class SynthesisFailed extends Error {
  override readonly name = 'SynthesisFailed';
}

/**
 * The CDK context that the stack is synthesized with: that of cdk.json.
 *
 * @param settings what goes before it
 */
export const contextWith = (settings: Readonly<Record<string, unknown>> = {}): Record<string, unknown> => {
  const { context } = JSON.parse(readFileSync(join(root, 'cdk.json'), 'utf8')) as { context?: object };
  return { ...context, ...settings };
};

/** Ends the app with the esbuild that it may have started. */
const kill = ({ pid, exitCode, signalCode }: ChildProcess): void => {
  if (pid !== undefined && exitCode === null && signalCode === null) process.kill(-pid, 'SIGKILL');
};

/**
 * Synthesizes the stack as the CDK CLI would, without it: no account, no network.
 *
 * @param outdir where the template and the bundles go
 * @param settings context that goes before that of cdk.json
 * @param signal gives it up
 * @throws SynthesisFailed with what the app printed, where it failed; the signal's reason
 */
export const synthesize = async (
  outdir: string,
  settings: Readonly<Record<string, unknown>> = {},
  signal?: AbortSignal,
): Promise<void> => {
  signal?.throwIfAborted();
  const app = spawn(process.execPath, [join(root, 'bin/pennytrace.ts')], {
    cwd: root,
    env: { ...process.env, CDK_OUTDIR: outdir, CDK_CONTEXT_JSON: JSON.stringify(contextWith(settings)) },
    stdio: ['ignore', 'ignore', 'pipe'],
    // A group of its own, so that a Ctrl-C in the terminal reaches this process alone, which then
    // ends things in order.
    detached: true,
  });
  const end = () => kill(app);
  signal?.addEventListener('abort', end);
  process.on('exit', end);
  try {
    const [printed, [code]] = await Promise.all([text(app.stderr), once(app, 'close')]);
    signal?.throwIfAborted();
    if (code !== 0) throw new SynthesisFailed(`the stack does not synthesize:\n${printed.trim()}`);
  } finally {
    signal?.removeEventListener('abort', end);
    process.off('exit', end);
  }
};
