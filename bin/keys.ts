/** `npm run keys -- create | list | revoke`: the operator's command for keys. See docs/keys.md. */
import { fileURLToPath } from 'node:url';
import { processOutput } from './common/output.ts';
import { run } from './keys/command.ts';

process.exitCode = await run(process.argv.slice(2), {
  ...processOutput,
  interactive: process.stdout.isTTY === true,
  root: fileURLToPath(new URL('..', import.meta.url)),
});
