import { type ListedTool, listTools, type ToolSchemas, tools } from '../tools.ts';
import { type JsonSchema, type Schemas, toJsonSchema } from './schema.ts';

const prefix = '#/components/schemas/';

/**
 * Components that a model need not see spelt out: the description of the field has the language, and
 * a list of tools takes room in every conversation.
 */
const inShort = (name: string): JsonSchema | undefined => {
  if (name.endsWith('Query') || ['CallsFilter', 'IssuesFilter', 'CallMetric', 'UsageMetric'].includes(name))
    return { type: 'object' };
  return name.endsWith('Path') ? { type: 'string' } : undefined;
};

/**
 * Bounds and rules whose violation is answered in words. A list of tools is in every conversation, so it
 * says what a model needs to get a call right at first.
 */
const leftOut: ReadonlySet<string> = new Set([
  'pattern',
  'additionalProperties',
  'minItems',
  'maxItems',
  'uniqueItems',
  'minLength',
  'maxLength',
  'minimum',
  'maximum',
]);

const isNull = (schema: unknown): boolean => (schema as JsonSchema | null)?.type === 'null';

/** A schema without null, which says no more than that a field is left out. */
const withoutNull = ({
  anyOf,
  type,
  ...rest
}: JsonSchema & { readonly anyOf?: readonly unknown[] }): object => {
  const some = anyOf?.filter((option) => !isNull(option));
  const kinds = Array.isArray(type) ? type.filter((kind) => kind !== 'null') : type;
  return {
    ...(kinds !== undefined && { type: Array.isArray(kinds) && kinds.length === 1 ? kinds[0] : kinds }),
    ...(some?.length === 1 ? (some[0] as object) : some && { anyOf: some }),
    ...rest,
  };
};

/** A schema with its components in their places, and without what a model need not read. */
const inPlace = (schema: unknown, schemas: Schemas): unknown => {
  if (Array.isArray(schema)) return schema.map((item) => inPlace(item, schemas));
  if (typeof schema !== 'object' || schema === null) return schema;
  const { $ref, properties, ...rest } = schema as JsonSchema;
  const own: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(rest))
    if (!leftOut.has(name)) own[name] = inPlace(value, schemas);
  // Names of fields are no keywords.
  if (properties !== undefined)
    own.properties = Object.fromEntries(
      Object.entries(properties as object).map(([name, value]) => [name, inPlace(value, schemas)]),
    );
  if ($ref === undefined) return withoutNull(own as JsonSchema);
  const name = $ref.slice(prefix.length);
  return {
    ...(inPlace(inShort(name) ?? schemas.get(name) ?? {}, schemas) as object),
    ...withoutNull(own as JsonSchema),
  };
};

const converted = (...args: Parameters<typeof toJsonSchema>): JsonSchema =>
  inPlace(toJsonSchema(...args), args[1]) as JsonSchema;

/** JSON Schemas of what the tools of `/mcp` take and give, by their names. */
export const toolSchemas = (): ToolSchemas =>
  Object.fromEntries(
    tools.map(({ name, request, gives }) => {
      const schemas: Schemas = new Map();
      return [
        name,
        {
          inputSchema: { ...(converted(request(), schemas, 'input') as object), type: 'object' },
          outputSchema: {
            type: 'object',
            properties: Object.fromEntries(gives.map((field) => [field, {}])),
          },
        },
      ];
    }),
  );

/** The tools of `/mcp`, as they are listed. */
export const listedTools = (): readonly ListedTool[] => listTools(tools, toolSchemas());
