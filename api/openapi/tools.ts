import { replyFields, tools } from '../tools.ts';
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
  if (name.endsWith('Query') || ['CallsFilter', 'CallMetric', 'UsageMetric'].includes(name))
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

/** What a tool gives: its own fields by name alone. Replies say the rest themselves. */
const inNames = ({ properties }: JsonSchema): JsonSchema =>
  ({
    type: 'object',
    properties: Object.fromEntries(
      Object.keys((properties ?? {}) as object)
        .filter((name) => !sharedFields.has(name))
        .map((name) => [name, {}]),
    ),
  }) as JsonSchema;

/** What every reply may have: the server's instructions tell of it. */
const sharedFields: ReadonlySet<string> = new Set(Object.keys(replyFields()));

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
      outputSchema: inNames(converted(answer(), schemas, 'output')),
      annotations:
        role === 'read' ? { readOnlyHint: true } : { destructiveHint: false, idempotentHint: true },
    };
  });
