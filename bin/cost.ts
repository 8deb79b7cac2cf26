/**
 * `npm run cost -- --calls 1000000 --bytes 7500 --batch 100`: prints the monthly bill of a load.
 * See docs/cost.md.
 */

import { processOutput } from './common/output.ts';
import { run } from './cost/command.ts';
import { measured } from './cost/measured.ts';

process.exitCode = run(process.argv.slice(2), measured(), processOutput);
