/**
 * `npm version` runs this: it writes down the tables and formats of the version that is about to be released,
 * with which the next one's are compared.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { headerFormat } from '../core/records/calls/header-format.ts';
import { tables } from '../foundations/storage/tables.ts';
import { root } from './common.ts';

const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
const baseline = { version, tables, headers: headerFormat() };
writeFileSync(join(root, 'foundations/storage/released.json'), `${JSON.stringify(baseline, null, 2)}\n`);
