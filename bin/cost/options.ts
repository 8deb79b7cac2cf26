import { parseArgs } from 'node:util';
import { UsageError } from '../shared/usage-error.ts';
import { assumptionOptions, type Load, type LoadOption, loadOf, loadOptions } from './load.ts';

/** What was asked for. */
export interface CostOptions {
  readonly help: boolean;
  readonly json: boolean;
  readonly load: Load;
}

const lineOf = ({ flag, about, fallback }: LoadOption): string =>
  `  --${flag.padEnd(18)} ${about} (default: ${fallback.toLocaleString('en-US')})`;

/** The text of `--help`. */
export const help = `The monthly bill of a load, from measured units and list prices, beside the usual layout and servers.

  npm run cost -- --calls 1000000 --bytes 7500 --batch 100 --queries 10000

The load
${loadOptions.map(lineOf).join('\n')}
What is assumed
${assumptionOptions.map(lineOf).join('\n')}
Output
  --json               as JSON, for scripts

Numbers may have commas or underscores (1,000,000). Exit code: 0 done, 2 not understood.`;

const options = [...loadOptions, ...assumptionOptions];

const rules: Readonly<Record<LoadOption['kind'], readonly [rule: string, holds: (n: number) => boolean]>> = {
  count: ['a number, 0 or more', (n) => n >= 0],
  positive: ['a number above 0', (n) => n > 0],
  share: ['a share from 0 to 1, e.g. 0.25', (n) => n >= 0 && n <= 1],
};

const numberOf = ({ flag, kind }: LoadOption, text: string): number => {
  const number = Number(text.replaceAll(/[,_]/g, ''));
  const [rule, holds] = rules[kind];
  if (text.trim() === '' || !Number.isFinite(number) || !holds(number))
    throw new UsageError(`--${flag} ${text}: should be ${rule}`);
  return number;
};

const understood = (args: readonly string[]) => {
  const flags = options.map(({ flag }) => [flag, { type: 'string' }] as const);
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        ...Object.fromEntries(flags),
        help: { type: 'boolean', short: 'h' },
        json: { type: 'boolean' },
      },
    });
    return values as Readonly<Record<string, string | boolean | undefined>>;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error), { cause: error });
  }
};

/**
 * What one request may have, of typical JSON: Lambda's event has 6 MB, in which quotes count twice.
 */
const maxRequest = 5_000_000;

/**
 * Reads the command line.
 *
 * @throws UsageError where it makes no sense
 */
export const parseOptions = (args: readonly string[]): CostOptions => {
  const values = understood(args);
  const given = options.flatMap((option) => {
    const text = values[option.flag];
    return typeof text === 'string' ? [[option.field, numberOf(option, text)] as const] : [];
  });
  const load = loadOf(Object.fromEntries(given));
  if (load.batch < 1) throw new UsageError(`--batch ${load.batch}: a request has one call at least`);
  const most = Math.floor(maxRequest / load.bytes);
  if (most < 1) throw new UsageError(`--bytes ${load.bytes}: a request has 5 MB at most`);
  if (load.batch > most)
    throw new UsageError(
      `--batch ${load.batch} of ${load.bytes} bytes is more than the 5 MB that a request may have: at most ${most} of that size`,
    );
  return { help: values.help === true, json: values.json === true, load };
};
