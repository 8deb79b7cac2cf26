/**
 * `npm run generate`: writes what is generated from the code: the tables of docs/cost.md from the
 * measured figures, and the JSON Schema of each kind of event in `schemas/events`.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { eventSchemas } from '../openapi/events.ts';
import { measured } from './cost/load.ts';
import { docsWith } from './cost/tables.ts';

const pathOf = (path: string): string => fileURLToPath(new URL(`../${path}`, import.meta.url));

const costs = pathOf('docs/cost.md');
writeFileSync(costs, docsWith(readFileSync(costs, 'utf8'), measured()));

const folder = pathOf('schemas/events/');
mkdirSync(folder, { recursive: true });
for (const [kind, schema] of Object.entries(eventSchemas()))
  writeFileSync(`${folder}${kind}.json`, `${JSON.stringify(schema, null, 2)}\n`);
