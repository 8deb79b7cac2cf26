/**
 * `npm run restore -- --from <table> --to <table>`: the operator's command for restoring data. See
 * docs/operations.md.
 */
import { run } from './restore/command.ts';

process.exitCode = await run(process.argv.slice(2), {
  out: (text) => process.stdout.write(`${text}\n`),
  err: (text) => process.stderr.write(`${text}\n`),
});
