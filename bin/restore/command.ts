import { dynamodbClient } from '../../core/foundations/storage/index.ts';
import type { CommandOutput } from '../common/output.ts';
import { runCommand } from '../common/run-command.ts';
import { type CopyCounts, copyItems } from './copy.ts';
import { help, parseOptions, type RestoreOptions } from './options.ts';

/**
 * Runs the restore command.
 *
 * @param argv the arguments after the command's name
 * @returns the exit code: 0 done, 1 failed, 2 wrong usage (nothing was done)
 */
export const run = (argv: readonly string[], io: CommandOutput): Promise<0 | 1 | 2> =>
  runCommand(
    'restore',
    io,
    async () => {
      const options = parseOptions(argv);
      if (options) await restore(options, io);
      else io.out(help);
    },
    explain,
  );

const summary = ({ dryRun, from, to }: RestoreOptions, { read, written }: CopyCounts): string =>
  dryRun
    ? `${read} items in ${from}; nothing was written`
    : `${read} items in ${from}, ${written} written to ${to}, ${read - written} existed already`;

const restore = async (options: RestoreOptions, io: CommandOutput): Promise<void> => {
  const client = dynamodbClient();
  let reported = 0;
  try {
    const counts = await copyItems(
      { client, name: options.from },
      { client, name: options.to },
      options,
      (soFar) => {
        if (soFar.read - reported < 10_000) return;
        reported = soFar.read;
        io.err(`${soFar.read} items read, ${soFar.written} written`);
      },
    );
    io.out(summary(options, counts));
  } finally {
    client.destroy();
  }
};

const explain = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  if (error.name === 'ResourceNotFoundException')
    return 'no such table in this account and region: check --from, --to and AWS_REGION';
  return `${error.name}: ${error.message}`;
};
