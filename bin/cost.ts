/**
 * `npm run cost -- --calls 1000000 --bytes 7500 --batch 100`: prints the monthly bill of a load.
 * See docs/cost.md.
 */

import { type CommandOutput, parseFlags, processOutput, UsageError, usageText } from './common.ts';
import { breakEven, computeBills, pricesAsOf, servers, total } from './cost/bill.ts';
import {
  assumptionOptions,
  type Load,
  type LoadOption,
  loadOptions,
  type Measured,
  measured,
  toLoad,
} from './cost/load.ts';
import {
  alertsTable,
  auditTable,
  batchTable,
  billingTable,
  billTable,
  doorsTable,
  evaluatorsTable,
  formatTable,
  growthTable,
  openTable,
  promptsTable,
  serverTable,
  settingsTable,
  streamsTable,
} from './cost/tables.ts';

interface CostOptions {
  readonly help: boolean;
  readonly json: boolean;
  readonly load: Load;
}

/** The name of an option on the command line: `in-threads` for `inThreads`. */
const toFlag = (field: string): string => field.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

const toLines = (options: Readonly<Record<string, LoadOption>>): string =>
  Object.entries(options)
    .map(
      ([field, { about, fallback }]) =>
        `  --${toFlag(field).padEnd(18)} ${about} (default: ${fallback.toLocaleString('en-US')})`,
    )
    .join('\n');

export const help = `The monthly bill of a load, from measured units and list prices, compared with the usual layout and servers.

  npm run cost -- --calls 1000000 --bytes 7500 --batch 100 --queries 10000

The load
${toLines(loadOptions)}
Assumptions
${toLines(assumptionOptions)}
Output
  --json               as JSON, for scripts

Numbers may have commas or underscores (1,000,000). Exit code: 0 done, 2 wrong usage.`;

const options: Readonly<Record<string, LoadOption>> = { ...loadOptions, ...assumptionOptions };

const rules: Readonly<Record<LoadOption['kind'], readonly [rule: string, holds: (n: number) => boolean]>> = {
  count: ['a number, 0 or more', (n) => n >= 0],
  positive: ['a number above 0', (n) => n > 0],
  share: ['a share from 0 to 1, e.g. 0.25', (n) => n >= 0 && n <= 1],
};

const parseNumber = (flag: string, { kind }: LoadOption, text: string): number => {
  const number = Number(text.replaceAll(/[,_]/g, ''));
  const [rule, holds] = rules[kind];
  if (text.trim() === '' || !Number.isFinite(number) || !holds(number))
    throw new UsageError(`--${flag} ${text}: should be ${rule}`);
  return number;
};

const flagValues = (args: readonly string[]): Readonly<Record<string, unknown>> =>
  parseFlags({
    args: [...args],
    options: {
      ...Object.fromEntries(
        Object.keys(options).map((field) => [toFlag(field), { type: 'string' }] as const),
      ),
      help: { type: 'boolean', short: 'h' },
      json: { type: 'boolean' },
    },
  }).values;

/**
 * The most JSON in one request, in bytes. Lambda's event has 6 MB, and quotes count twice in it.
 */
const maxRequest = 5_000_000;

/**
 * Parses the command line.
 *
 * @throws UsageError if an argument is wrong
 */
export const parseOptions = (args: readonly string[]): CostOptions => {
  const values = flagValues(args);
  const fields = Object.entries(options).flatMap(([field, option]) => {
    const text = values[toFlag(field)];
    return typeof text === 'string' ? [[field, parseNumber(toFlag(field), option, text)] as const] : [];
  });
  const load = toLoad(Object.fromEntries(fields));
  if (load.batch < 1) throw new UsageError(`--batch ${load.batch}: a request has at least one call`);
  const maxBatch = Math.floor(maxRequest / load.bytes);
  if (maxBatch < 1) throw new UsageError(`--bytes ${load.bytes}: a request has at most 5 MB`);
  if (load.batch > maxBatch)
    throw new UsageError(
      `--batch ${load.batch} of ${load.bytes} bytes exceeds the 5 MB of a request: at most ${maxBatch} of that size`,
    );
  return { help: values.help === true, json: values.json === true, load };
};

const report = ({ load }: CostOptions, measured: Measured): string =>
  [
    `${load.calls.toLocaleString('en-US')} calls of ${load.bytes} bytes a month, ${load.batch} per request; us-east-1, list prices as of ${pricesAsOf}`,
    formatTable(billTable(load, measured)),
    'In proportion:',
    formatTable(growthTable(load, measured)),
    'With provisioned capacity for the calls:',
    formatTable(billingTable(load, measured)),
    'With the settings events and analytics:',
    formatTable(streamsTable(load, measured)),
    'With evaluators, not including their models:',
    formatTable(evaluatorsTable(load, measured)),
    'With redaction, and with spending limits:',
    formatTable(settingsTable(load)),
    'With alerts, over a project of a million calls a month:',
    formatTable(alertsTable(load, measured)),
    'Reads of prompts, and what is left of them behind the caches of clients:',
    formatTable(promptsTable(load, measured)),
    'With the audit trail, which every service has:',
    formatTable(auditTable(measured)),
    'By calls per request, reporting only:',
    formatTable(batchTable(load, measured)),
    'Routes without a key, if somebody asks as fast as their throttle allows:',
    formatTable(openTable()),
    'By the way of reporting, and what requests would cost at other doors:',
    formatTable(doorsTable(load, measured)),
    'A server of your own, without anybody’s time:',
    formatTable(serverTable(load, measured)),
    'Assumptions and how to change them: npm run cost -- --help',
  ].join('\n\n');

const asJson = ({ load }: CostOptions, measured: Measured): string => {
  const { service, usual } = computeBills(load, measured);
  const bill = (lines: typeof service) => ({ lines, total: total(lines) });
  return JSON.stringify(
    {
      pricesAsOf,
      load,
      service: bill(service),
      usual: bill(usual),
      servers: servers.map((server) => ({ ...server, fromCalls: breakEven(load, measured, server) ?? null })),
    },
    null,
    2,
  );
};

/**
 * Runs the command for costs.
 *
 * @param args the arguments after the command's name
 * @returns the exit code: 0 done, 2 wrong usage
 */
export const run = (args: readonly string[], measured: Measured, { out, err }: CommandOutput): 0 | 2 => {
  try {
    const options = parseOptions(args);
    out(options.help ? help : options.json ? asJson(options, measured) : report(options, measured));
    return 0;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    err(usageText('cost', error));
    return 2;
  }
};

export const main = (argv: readonly string[]): number => run(argv, measured(), processOutput);

if (import.meta.main) process.exitCode = main(process.argv.slice(2));
