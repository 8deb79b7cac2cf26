/** `npm run cost:docs`: updates the tables of docs/cost.md from the measured figures. */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { docsWith } from './cost/docs.ts';
import { measured } from './cost/measured.ts';

const file = fileURLToPath(new URL('../docs/cost.md', import.meta.url));
writeFileSync(file, docsWith(readFileSync(file, 'utf8'), measured()));
