import { S3Client } from '@aws-sdk/client-s3';
import type { CommandOutput } from '../common/output.ts';
import { runCommand } from '../common/run-command.ts';
import { compactFolders } from './folders.ts';
import { help, parseOptions } from './options.ts';

/**
 * Runs the compact command.
 *
 * @param argv the arguments after the command's name
 * @returns the exit code: 0 done, 1 failed, 2 wrong usage (nothing was done)
 */
export const run = (argv: readonly string[], io: CommandOutput): Promise<0 | 1 | 2> =>
  runCommand(
    'compact',
    io,
    async () => {
      const options = parseOptions(argv);
      if (!options) return io.out(help);
      const client = new S3Client({});
      try {
        const { days, filesBefore, rowsBefore, rowsAfter } = await compactFolders(client, options);
        const done = options.dryRun ? 'would be left; nothing was written' : 'are left';
        io.out(`${days} days, ${filesBefore} files, ${rowsBefore} rows: ${rowsAfter} rows ${done}`);
      } finally {
        client.destroy();
      }
    },
    (error) => (error instanceof Error ? `${error.name}: ${error.message}` : String(error)),
  );
