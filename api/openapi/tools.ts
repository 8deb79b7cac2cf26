import { tools } from '../tools.ts';
import { type JsonSchema, type Schemas, toJsonSchema } from './schema.ts';

/** A tool as `tools/list` has it. */
export interface ListedTool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
  readonly outputSchema: JsonSchema;
  readonly annotations: Readonly<Record<string, boolean>>;
}

const prefix = '#/components/schemas/';

/**
 * Components that a model need not see spelt out: the description of the field has the language, and
 * a list of tools takes room in every conversation.
 */
const inShort = (name: string): JsonSchema | undefined => {
  if (name.endsWith('Query')) return { type: 'object' };
  return name.endsWith('Path') ? { type: 'string' } : undefined;
};

/** A schema with its components in their places, and without what no client reads. */
const inPlace = (schema: unknown, schemas: Schemas): unknown => {
  if (Array.isArray(schema)) return schema.map((item) => inPlace(item, schemas));
  if (typeof schema !== 'object' || schema === null) return schema;
  const { $ref, pattern: _, ...rest } = schema as JsonSchema;
  const own = Object.fromEntries(
    Object.entries(rest).map(([name, value]) => [name, inPlace(value, schemas)]),
  );
  if ($ref === undefined) return own;
  const name = $ref.slice(prefix.length);
  return { ...(inPlace(inShort(name) ?? schemas.get(name) ?? {}, schemas) as object), ...own };
};

const converted = (...args: Parameters<typeof toJsonSchema>): JsonSchema =>
  inPlace(toJsonSchema(...args), args[1]) as JsonSchema;

/** The tools of `/mcp` with JSON Schemas of what they take and give. */
export const listedTools = (): readonly ListedTool[] =>
  tools.map(({ name, title, description, role, request, answer }) => {
    const schemas: Schemas = new Map();
    return {
      name,
      title,
      description,
      inputSchema: { type: 'object', ...converted(request(), schemas, 'input') },
      outputSchema: { type: 'object', ...converted(answer(), schemas, 'output') },
      annotations:
        role === 'read'
          ? { readOnlyHint: true, idempotentHint: true, openWorldHint: false }
          : { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    };
  });
