import { type BuildOptions, build, buildSync, stop } from 'esbuild';

/*
 * A module with its imports, as one CommonJS script for a thread. A thread that runs TypeScript loads
 * a compiler first, which takes longer than all else, and 25 MB.
 */

const options = (file: string) =>
  ({
    entryPoints: [file],
    bundle: true,
    format: 'cjs',
    platform: 'node',
    target: 'node24',
    write: false,
  }) as const satisfies BuildOptions;

const getText = (file: string, code: { readonly text: string } | undefined): string => {
  if (!code) throw new Error(`esbuild made nothing of ${file}`);
  return code.text;
};

/** The script of a module, by its absolute path, made beside other work. */
export const threadCode = async (file: string): Promise<string> =>
  getText(file, (await build(options(file))).outputFiles[0]);

/** The script of a module, by its absolute path, for who cannot wait. */
export const threadCodeSync = (file: string): string =>
  getText(file, buildSync(options(file)).outputFiles[0]);

/** Ends the process of the compiler, which a later script starts anew. Whoever builds meanwhile fails. */
export const endCompiler = (): Promise<void> => stop();
