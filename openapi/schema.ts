import type * as z from 'zod/mini';

/** A schema of JSON Schema 2020-12. */
export type JsonSchema = z.core.JSONSchema.BaseSchema;

/** A reference to a component of the document, by its name. */
export const refTo = (name: string): { $ref: string } => ({ $ref: `#/components/schemas/${name}` });
