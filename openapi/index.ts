export { type OpenApiDocument, type OperationObject, openApiDocument } from './document.ts';
export type { JsonSchema } from './json-schema.ts';
export type { Example, Operation } from './operation.ts';
export { operationsOf } from './operations/index.ts';
