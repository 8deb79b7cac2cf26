/**
 * `npm run compact -- --bucket <bucket> --project <project>`: takes what was deleted out of the
 * files of analytics, and makes few files of many. See docs/analytics.md.
 */

import { processOutput } from './common/output.ts';
import { run } from './compact/command.ts';

process.exitCode = await run(process.argv.slice(2), processOutput);
