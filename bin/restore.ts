/**
 * `npm run restore -- --from <table> --to <table>`: the operator's command for restoring data. See
 * docs/operations.md.
 */

import { processOutput } from './common/output.ts';
import { run } from './restore/command.ts';

process.exitCode = await run(process.argv.slice(2), processOutput);
