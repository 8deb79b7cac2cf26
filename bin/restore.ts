/**
 * `npm run restore -- --from <table> --to <table>`: the operator's command for restoring data. See
 * docs/operations.md.
 */
import { run } from './restore/command.ts';
import { processOutput } from './shared/output.ts';

process.exitCode = await run(process.argv.slice(2), processOutput);
