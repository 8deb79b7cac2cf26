import { build } from 'esbuild';

/**
 * A module with its imports, as one CommonJS script for a thread. A thread that runs TypeScript loads
 * a compiler first, which takes longer than all else, and 25 MB.
 *
 * @param file the module, absolute
 */
export const threadCode = async (file: string): Promise<string> => {
  const { outputFiles } = await build({
    entryPoints: [file],
    bundle: true,
    format: 'cjs',
    platform: 'node',
    target: 'node24',
    write: false,
  });
  const [code] = outputFiles;
  if (!code) throw new Error(`esbuild made nothing of ${file}`);
  return code.text;
};
