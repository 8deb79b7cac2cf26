/** `npm run keys -- create | list | revoke`: the operator's command for keys. See docs/keys.md. */
import { fileURLToPath } from 'node:url';
import { run } from './keys/command.ts';
import { processOutput } from './shared/output.ts';

process.exitCode = await run(process.argv.slice(2), {
  ...processOutput,
  interactive: process.stdout.isTTY === true,
  root: fileURLToPath(new URL('..', import.meta.url)),
});
