export { type OpenApiDocument, type OperationObject, openApiDocument } from './document.ts';
export type { JsonSchema } from './schema.ts';
export { listedTools, toolSchemas } from './tools.ts';
