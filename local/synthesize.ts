import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';

const root = resolve(import.meta.dirname, '..');

/** The stack does not synthesize. The message is what the app printed. */
export class SynthesisFailed extends Error {
  override readonly name = 'SynthesisFailed';
}

/**
 * The CDK context that the stack is synthesized with.
 *
 * @param settings override the context of cdk.json
 */
export const contextWith = (settings: Readonly<Record<string, unknown>> = {}): Record<string, unknown> => {
  const { context } = JSON.parse(readFileSync(join(root, 'cdk.json'), 'utf8')) as { context?: object };
  return { ...context, ...settings };
};

/** Ends the app's process group, with the esbuild processes in it. */
const kill = ({ pid, exitCode, signalCode }: ChildProcess): void => {
  if (pid !== undefined && exitCode === null && signalCode === null) process.kill(-pid, 'SIGKILL');
};

/**
 * Synthesizes the stack without the CDK CLI: no account and no network are needed.
 *
 * @param outdir the folder for template and bundles
 * @param settings override the context of cdk.json
 * @param signal cancels the synthesis
 * @param program the app, by its path in the project
 * @throws SynthesisFailed with what the app printed; the signal's reason
 */
export const synthesize = async (
  outdir: string,
  settings: Readonly<Record<string, unknown>> = {},
  signal?: AbortSignal,
  program = 'bin/pennytrace.ts',
): Promise<void> => {
  signal?.throwIfAborted();
  const app = spawn(process.execPath, [join(root, program)], {
    cwd: root,
    env: {
      ...process.env,
      CDK_OUTDIR: outdir,
      CDK_CONTEXT_JSON: JSON.stringify(contextWith(settings)),
      // CloudFormation's rules are checked before a deployment: here they would take half the time.
      CDK_VALIDATION: 'false',
    },
    stdio: ['ignore', 'ignore', 'pipe'],
    // In a process group of its own, Ctrl-C in the terminal reaches only this process, which then
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
