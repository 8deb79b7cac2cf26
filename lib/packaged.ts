import { join, resolve } from 'node:path';

/** Whether this runs from the installed package. Its bundler defines it. */
declare const PACKAGED: boolean | undefined;

/** Whether this runs from the installed package, and not from a checkout. */
export const isPackaged = typeof PACKAGED === 'boolean';

/**
 * The folder with an operator's `cdk.json` and with `.local`: the project's in a checkout, and
 * the present one for the package, whose own folder npm replaces.
 */
export const workFolder = isPackaged ? process.cwd() : resolve(import.meta.dirname, '..');

/** The package's folder with all that was built. Only the package has it. */
const builtFolder = resolve(import.meta.dirname, '..');

/** The archive with the bundles of all handlers. */
export const bundlesArchive = join(builtFolder, 'bundles.br');

/** Turns commands of a checkout into those of the package, if this is the package. */
export const withOwnCommands = (text: string): string =>
  isPackaged
    ? text
        .replaceAll(/npm run (\w+)( --(?= ))?/g, 'npx pennytrace $1')
        .replaceAll('npm start', 'npx pennytrace start')
    : text;
