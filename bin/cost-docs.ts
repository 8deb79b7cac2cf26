/** `npm run cost:docs`: updates the tables of docs/cost.md from the measured figures. */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { measured } from './cost/load.ts';
import { docsWith } from './cost/tables.ts';

const file = fileURLToPath(new URL('../docs/cost.md', import.meta.url));
writeFileSync(file, docsWith(readFileSync(file, 'utf8'), measured()));
