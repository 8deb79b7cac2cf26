/** `npm run web:types`: writes the page's types from the OpenAPI document. */
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { openApiDocument, typesOf } from '../openapi/index.ts';

const file = fileURLToPath(new URL('../web/api/types.ts', import.meta.url));
writeFileSync(file, typesOf(openApiDocument('0')));
