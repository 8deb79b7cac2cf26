/** `npm run keys -- create | list | revoke`: the operator's command for keys. See docs/keys.md. */
import { fileURLToPath } from 'node:url';
import { run } from './keys/command.ts';

process.exitCode = await run(process.argv.slice(2), {
  out: (text) => process.stdout.write(`${text}\n`),
  err: (text) => process.stderr.write(`${text}\n`),
  interactive: process.stdout.isTTY === true,
  root: fileURLToPath(new URL('..', import.meta.url)),
});
