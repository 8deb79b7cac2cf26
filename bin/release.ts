/**
 * `npm version` runs this. It writes down the tables and formats of the version that is about to be released, with
 * which the next one's are compared, and names the version where documents and examples show it.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { headerFormat } from '../core/records/calls/header-format.ts';
import { tables } from '../foundations/storage/tables.ts';
import { root } from './common.ts';

/** Where documents and examples show the version. */
const shownIn = [
  'api/projects.ts',
  'api/service.ts',
  'docs/api.md',
  'docs/construct.md',
  'docs/deploying.md',
] as const;

const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const versionIn = (path: string): string => (JSON.parse(read(path)) as { version: string }).version;

const baselinePath = 'foundations/storage/released.json';
const former = versionIn(baselinePath);
const version = versionIn('package.json');

const shown = shownIn.map((path) => ({ path, text: read(path) }));
const lacking = shown.filter(({ text }) => !text.includes(former)).map(({ path }) => path);
if (lacking.length > 0)
  throw new Error(`these no longer show ${former}, take them out of bin/release.ts: ${lacking.join(', ')}`);
for (const { path, text } of shown) writeFileSync(join(root, path), text.replaceAll(former, version));

const baseline = { version, tables, headers: headerFormat() };
writeFileSync(join(root, baselinePath), `${JSON.stringify(baseline, null, 2)}\n`);
