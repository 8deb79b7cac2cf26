import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

const root = resolve(import.meta.dirname, '..');

/**
 * Synthesizes the stack as the CDK CLI would, without it: no account, no network.
 *
 * @param outdir where the template and the bundles go
 * @param context settings that go before those of cdk.json
 * @throws Error with what the app printed, where it failed
 */
export const synthesize = async (
  outdir: string,
  context: Readonly<Record<string, unknown>> = {},
): Promise<void> => {
  const cdkJson = JSON.parse(readFileSync(join(root, 'cdk.json'), 'utf8')) as { context?: object };
  await promisify(execFile)(process.execPath, [join(root, 'bin/pennytrace.ts')], {
    cwd: root,
    env: {
      ...process.env,
      CDK_OUTDIR: outdir,
      CDK_CONTEXT_JSON: JSON.stringify({ ...cdkJson.context, ...context }),
    },
  });
};
