import { resolve } from 'node:path';
import { buildSync } from 'esbuild';

let code: string | undefined;

/**
 * What a worker thread runs: `bootstrap.ts` with its imports, as one CommonJS script. It is made
 * once: a thread that runs TypeScript loads a compiler first, which takes longer than all else.
 */
export const bootstrapCode = (): string => {
  code ??= buildSync({
    entryPoints: [resolve(import.meta.dirname, 'bootstrap.ts')],
    bundle: true,
    format: 'cjs',
    platform: 'node',
    target: 'node24',
    write: false,
  }).outputFiles[0]?.text;
  if (code === undefined) throw new Error('esbuild made nothing of bootstrap.ts');
  return code;
};
