export { type OpenApiDocument, type OperationObject, openApiDocument } from './document.ts';
export type { Example, Operation } from './operation.ts';
export { operationsOf } from './operations/index.ts';
export type { JsonSchema } from './schema.ts';
export { typesOf } from './typescript.ts';
