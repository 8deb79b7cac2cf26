import { dynamodbClient } from '../../core/storage/index.ts';
import { UsageError } from '../shared/usage-error.ts';
import { type Copied, copyItems } from './copy.ts';
import { help, type Order, parseOrder } from './options.ts';

/** Where the command writes to: results to `out`, what is for people to `err`; a line each. */
export interface Surroundings {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
}

/**
 * Runs the command for bringing data back.
 *
 * @param argv the arguments after the command's own name
 * @returns the exit code: 0 done, 1 failed, 2 not understood (nothing was done)
 */
export const run = async (argv: readonly string[], io: Surroundings): Promise<0 | 1 | 2> => {
  try {
    const order = parseOrder(argv);
    if (order) await carryOut(order, io);
    else io.out(help);
    return 0;
  } catch (error) {
    const misunderstood = error instanceof UsageError;
    io.err(`restore: ${explain(error)}${misunderstood ? '\nSee npm run restore -- --help' : ''}`);
    return misunderstood ? 2 : 1;
  }
};

const summary = ({ dryRun, from, to }: Order, { read, written }: Copied): string =>
  dryRun
    ? `${read} items in ${from}; nothing was written`
    : `${read} items in ${from}, ${written} written to ${to}, ${read - written} were there already`;

const carryOut = async (order: Order, io: Surroundings): Promise<void> => {
  const client = dynamodbClient();
  let told = 0;
  try {
    const copied = await copyItems(
      { client, name: order.from },
      { client, name: order.to },
      order,
      (soFar) => {
        if (soFar.read - told < 10_000) return;
        told = soFar.read;
        io.err(`${soFar.read} items read, ${soFar.written} written`);
      },
    );
    io.out(summary(order, copied));
  } finally {
    client.destroy();
  }
};

const explain = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  if (error.name === 'ResourceNotFoundException')
    return 'no such table in this account and region: check --from, --to and AWS_REGION';
  return error instanceof UsageError ? error.message : `${error.name}: ${error.message}`;
};
