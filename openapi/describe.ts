import type { JsonSchema } from './schema.ts';
import type { Texts } from './texts.ts';

const isSchema = (value: unknown): value is JsonSchema => typeof value === 'object' && value !== null;

/** The schemas that stand directly in another one. */
const partsOf = (schema: JsonSchema): JsonSchema[] =>
  [
    ...Object.values(schema.properties ?? {}),
    ...[schema.anyOf, schema.oneOf, schema.prefixItems].flatMap((list) => list ?? []),
    schema.items,
    schema.additionalProperties,
  ].filter(isSchema);

/**
 * Describes every field in a schema. The operators of the query language, which begin with `$`,
 * need no text.
 *
 * @throws Error if there is no text for a field
 */
export const describeFields = (schema: JsonSchema, texts: Texts): void => {
  for (const [name, value] of Object.entries(schema.properties ?? {})) {
    if (name.startsWith('$') || !isSchema(value) || value.description !== undefined) continue;
    const description = texts[name];
    if (description === undefined) throw new Error(`there is no text for the field ${name}`);
    value.description = description;
  }
  for (const part of partsOf(schema)) describeFields(part, texts);
};
