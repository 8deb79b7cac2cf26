/** `npm run events:schemas`: writes the JSON Schema of each kind of event to `schemas/events`. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { eventSchemas } from '../openapi/events.ts';

const folder = fileURLToPath(new URL('../schemas/events/', import.meta.url));
mkdirSync(folder, { recursive: true });
for (const [kind, schema] of Object.entries(eventSchemas()))
  writeFileSync(`${folder}${kind}.json`, `${JSON.stringify(schema, null, 2)}\n`);
