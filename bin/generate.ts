/**
 * `npm run generate`: writes what is generated from the code: the tables of docs/cost.md from the
 * measured figures, the figures of the template in all documents, the reference of the API, and the JSON Schema of
 * each kind of event in `docs/events`.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventSchemas } from '../api/openapi/events.ts';
import { apiReference } from './api-reference.ts';
import { root } from './common.ts';
import { measured } from './cost/load.ts';
import { docsWith } from './cost/tables.ts';
import { documents, templateFigures, withFigures } from './figures.ts';

const costs = join(root, 'docs/cost.md');
writeFileSync(costs, docsWith(readFileSync(costs, 'utf8'), measured()));

writeFileSync(join(root, 'docs/api-reference.md'), apiReference());

const folder = join(root, 'docs/events/');
mkdirSync(folder, { recursive: true });
for (const [kind, schema] of Object.entries(eventSchemas()))
  writeFileSync(`${folder}${kind}.json`, `${JSON.stringify(schema, null, 2)}\n`);

const figures = templateFigures();
for (const path of documents) {
  const text = readFileSync(join(root, path), 'utf8');
  writeFileSync(join(root, path), withFigures(path, text, figures));
}
