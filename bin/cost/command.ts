import type { CommandOutput } from '../common/output.ts';
import { UsageError, usageText } from '../common/usage-error.ts';
import { billsOf, breakEven, total } from './bill.ts';
import type { Measured } from './measured.ts';
import { type CostOptions, help, parseOptions } from './options.ts';
import { pricesAsOf, servers } from './prices.ts';
import { batchTable, billTable, growthTable, serverTable, streamsTable, toText } from './tables.ts';

const report = ({ load }: CostOptions, measured: Measured): string =>
  [
    `${load.calls.toLocaleString('en-US')} calls of ${load.bytes} bytes a month, ${load.batch} per request; us-east-1, list prices as of ${pricesAsOf}`,
    toText(billTable(load, measured)),
    'In proportion:',
    toText(growthTable(load, measured)),
    'With the settings events and analytics:',
    toText(streamsTable(load, measured)),
    'By calls per request, reporting only:',
    toText(batchTable(load, measured)),
    'A server of your own, without anybody’s time:',
    toText(serverTable(load, measured)),
    'Assumptions and how to change them: npm run cost -- --help',
  ].join('\n\n');

const asJson = ({ load }: CostOptions, measured: Measured): string => {
  const { service, usual } = billsOf(load, measured);
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
