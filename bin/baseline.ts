/**
 * `npm version` runs this: it writes down the tables of the version that is about to be released,
 * with which the next one's are compared.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { tables } from '../foundations/storage/tables.ts';

const pathOf = (path: string): string => fileURLToPath(new URL(`../${path}`, import.meta.url));

const { version } = JSON.parse(readFileSync(pathOf('package.json'), 'utf8')) as { version: string };
const baseline = { version, tables };
writeFileSync(pathOf('foundations/storage/released.json'), `${JSON.stringify(baseline, null, 2)}\n`);
