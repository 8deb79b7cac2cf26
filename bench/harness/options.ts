import { parseFlags, UsageError } from '../../bin/common.ts';

/** The parsed command line of `npm run bench`. */
export interface BenchOptions {
  readonly help: boolean;
  /** A file of calls; undefined for the generator's. */
  readonly file: string | undefined;
  /** The numbers of calls over which growth is measured, ascending. */
  readonly sizes: readonly [number, ...number[]];
  /** The names of the parts to run; undefined for all. */
  readonly only: readonly string[] | undefined;
  /** The path of the figures as JSON. */
  readonly json: string;
}

const defaultSizes = '1000,10000';
const defaultJson = '.local/bench.json';

/** The text of `--help`, with the names of all parts. */
export const help = (parts: readonly string[]): string => `Measure the service on the embedded store.

  npm run bench                              all parts, on calls of the generator in examples/
  npm run bench -- calls.jsonl               on those of a file: one {"start": …, "end": …} per line, all of one project
  npm run bench -- --only writes,queries     some parts

  --only PARTS    names, separated by commas: ${parts.join(', ')}
  --sizes COUNTS  numbers of calls to measure growth over, separated by commas (default: ${defaultSizes})
  --json PATH     the file for the figures as JSON (default: ${defaultJson})`;

const parseSizes = (text: string): BenchOptions['sizes'] => {
  const [first, ...more] = text.split(',').map(Number);
  if (first === undefined || [first, ...more].some((size) => !Number.isInteger(size) || size < 1))
    throw new UsageError(`--sizes ${text}: should be whole numbers above 0, e.g. --sizes ${defaultSizes}`);
  const [smallest = first, ...others] = [first, ...more].toSorted((a, b) => a - b);
  return [smallest, ...others];
};

const parseOnly = (text: string, parts: readonly string[]): string[] => {
  const names = text.split(',');
  const unknown = names.find((name) => !parts.includes(name));
  if (unknown !== undefined)
    throw new UsageError(`--only ${text}: unknown part "${unknown}"; the parts are ${parts.join(', ')}`);
  return names;
};

/**
 * Parses the command line.
 *
 * @param parts the names of all parts
 * @throws UsageError if an argument is wrong
 */
export const parseOptions = (args: readonly string[], parts: readonly string[]): BenchOptions => {
  const { values, positionals } = parseFlags({
    args: [...args],
    allowPositionals: true,
    options: {
      help: { type: 'boolean', short: 'h' },
      sizes: { type: 'string' },
      only: { type: 'string' },
      json: { type: 'string' },
    },
  });
  if (positionals.length > 1)
    throw new UsageError(`give one file of calls, not ${positionals.length}: ${positionals.join(' ')}`);
  return {
    help: values.help ?? false,
    file: positionals[0],
    sizes: parseSizes(values.sizes ?? defaultSizes),
    only: values.only === undefined ? undefined : parseOnly(values.only, parts),
    json: values.json ?? defaultJson,
  };
};
