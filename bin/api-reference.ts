/** `docs/api-reference.md`, which `npm run generate` makes from the OpenAPI document: each endpoint and its fields. */
import type { OperationObject } from '../api/openapi/document.ts';
import { openApiDocument } from '../api/openapi/index.ts';
import type { JsonSchema } from '../api/openapi/schema.ts';

type Described = JsonSchema | boolean;

interface Field {
  readonly path: string;
  readonly schema: Described;
  readonly required: boolean;
}

const intro = `# API reference

Every endpoint with its fields, as \`npm run generate\` writes them from the schemas that requests are parsed with.
[\`GET /openapi.json\`](api.md#the-openapi-document) has the same for programs, with examples. [api.md](api.md)
explains how the endpoints behave. A field with * is required, \`[]\` stands for each item of a list, and \`<key>\`
for each key of an object. Fields may be null where their types say so.
`;

const language = 'api.md#the-query-language';

/** The name of the component that a schema refers to. */
const referredName = (schema: Described): string | undefined =>
  typeof schema === 'object' ? schema.$ref?.split('/').at(-1) : undefined;

const isNull = (schema: Described): boolean => typeof schema === 'object' && schema.type === 'null';

/** The schemas that a value may fit, without null. */
const alternatives = (schema: JsonSchema): readonly Described[] =>
  (schema.anyOf ?? schema.oneOf ?? []).filter((each) => !isNull(each));

/** The alternatives of a query's operation, which the page on the query language explains. */
const operatorNames = (schemas: Readonly<Record<string, JsonSchema>>): ReadonlySet<string> => {
  const operations = Object.entries(schemas).filter(([name]) => name.endsWith('Operation'));
  return new Set(
    operations.flatMap(([name, schema]) => [
      name,
      ...alternatives(schema).flatMap((each) => referredName(each) ?? []),
    ]),
  );
};

/** Bounds on a number, unless they only say that it is a safe integer. */
const formatRange = ({ minimum, maximum }: JsonSchema): string | undefined => {
  const least = minimum === Number.MIN_SAFE_INTEGER ? undefined : minimum;
  const most = maximum === Number.MAX_SAFE_INTEGER ? undefined : maximum;
  if (least !== undefined && most !== undefined) return `${least} to ${most}`;
  if (least !== undefined) return `${least} or more`;
  return most === undefined ? undefined : `at most ${most}`;
};

const formatBounds = (schema: JsonSchema): string => {
  const { minLength, maxLength, maxItems, exclusiveMinimum } = schema;
  const bounds = [
    formatRange(schema),
    exclusiveMinimum === undefined ? undefined : `above ${exclusiveMinimum}`,
    maxLength === undefined ? undefined : `${minLength ?? 0} to ${maxLength} characters`,
    maxItems === undefined ? undefined : `at most ${maxItems}`,
  ].filter((bound) => bound !== undefined);
  return bounds.length > 0 ? ` (${bounds.join(', ')})` : '';
};

/** A schema's type in a few words. */
const formatType = (schema: Described, hidden: ReadonlySet<string>): string => {
  if (typeof schema === 'boolean') return 'anything';
  const name = referredName(schema);
  if (name !== undefined)
    return hidden.has(name) ? `[operation](${language})` : `[${name}](#${name.toLowerCase()})`;
  if (schema.const !== undefined) return `\`${JSON.stringify(schema.const)}\``;
  if (schema.enum) return schema.enum.map((value) => `\`${JSON.stringify(value)}\``).join(', ');
  const union = schema.anyOf ?? schema.oneOf;
  if (union) return [...new Set(union.map((each) => formatType(each, hidden)))].join(' or ');
  const { type } = schema as { type?: string | string[] };
  if (Array.isArray(type)) return `${type.join(' or ')}${formatBounds(schema)}`;
  if (type === 'array') {
    const items = Array.isArray(schema.items) ? true : (schema.items ?? true);
    return `list of ${formatType(items, hidden)}${formatBounds(schema)}`;
  }
  if (type === 'object' && isMap(schema))
    return `object of ${formatType(schema.additionalProperties ?? true, hidden)}`;
  return type === undefined ? 'anything' : `${type}${formatBounds(schema)}`;
};

/** Whether the keys of an object are not known, but what each holds is. */
const isMap = ({ properties, additionalProperties }: JsonSchema): boolean =>
  !properties && typeof additionalProperties === 'object' && Object.keys(additionalProperties).length > 0;

/** The fields of a schema, with those of the objects and lists in it that have no name of their own. */
const listFields = (schema: Described, path = ''): readonly Field[] => {
  if (typeof schema === 'boolean' || schema.$ref) return [];
  const union = alternatives(schema);
  if (union.length > 0) return union.flatMap((each) => listFields(each, path));
  if (schema.type === 'array' && schema.items && !Array.isArray(schema.items))
    return listFields(schema.items, `${path}[]`);
  const within = (name: string) => (path ? `${path}.${name}` : name);
  if (isMap(schema)) return listFields(schema.additionalProperties ?? true, within('<key>'));
  return Object.entries(schema.properties ?? {}).flatMap(([name, each]) => [
    {
      path: within(name),
      schema: each,
      required: schema.required?.includes(name) ?? false,
    },
    ...listFields(each, within(name)),
  ]);
};

/** A cell of a table: `|` would end it, and so would a new line. */
const toCell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ');

const toTable = (fields: readonly Field[], hidden: ReadonlySet<string>): string => {
  const rows = fields.map(({ path, schema, required }) => {
    const description = typeof schema === 'object' ? (schema.description ?? '') : '';
    const cells = [`\`${path}\`${required ? ' *' : ''}`, formatType(schema, hidden), description];
    return `| ${cells.map(toCell).join(' | ')} |`;
  });
  // Alternatives of one value can have the same field.
  return ['| field | type | |', '| --- | --- | --- |', ...new Set(rows)].join('\n');
};

/** What a value may be: its type in words, and a table of its fields if it has any. */
const toBody = (label: string, schema: JsonSchema, hidden: ReadonlySet<string>): string => {
  const { description, pattern } = schema;
  const matching = pattern === undefined ? '' : `, matching \`${pattern}\``;
  const words = `${label}${formatType(schema, hidden)}${matching}.${description === undefined ? '' : ` ${description}`}`;
  const fields = listFields(schema);
  return fields.length > 0 ? `${words}\n\n${toTable(fields, hidden)}` : words;
};

/** In which types of media a body comes, unless it is JSON alone. */
const formatMedia = (types: readonly string[]): string =>
  types.join() === 'application/json' ? '' : ` (${types.map((type) => `\`${type}\``).join(', ')})`;

/** The anchor of a heading, as GitHub makes it. */
const toAnchor = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\w\- ]/g, '')
    .replaceAll(' ', '-');

/** What the document says of an operation. */
const getWords = (operation: OperationObject) =>
  operation as OperationObject & Record<'summary' | 'description', string>;

/** How often each component is referred to. */
const countReferences = (value: unknown): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>();
  for (const [, name = ''] of JSON.stringify(value).matchAll(/"#\/components\/schemas\/(\w+)"/g))
    counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
};

/** The text of `docs/api-reference.md`. */
export const apiReference = (): string => {
  // The reference says nothing of versions.
  const document = openApiDocument('');
  const { schemas } = document.components;
  const references = countReferences(document);
  const hidden = operatorNames(schemas);

  /** The components that stand with the one endpoint that uses them. */
  const inlined = new Set<string>();
  const toBodies = (label: string, content: Readonly<Record<string, { schema?: JsonSchema }>>): string[] => {
    const schema = content['application/json']?.schema ?? Object.values(content)[0]?.schema;
    if (!schema) return [];
    const name = referredName(schema);
    const component = name === undefined ? undefined : schemas[name];
    const start = `${label}${formatMedia(Object.keys(content))}: `;
    if (name === undefined || !component || references.get(name) !== 1)
      return [toBody(start, schema, hidden)];
    inlined.add(name);
    return [toBody(start, component, hidden)];
  };

  const toSection = (method: string, path: string, operation: OperationObject): string => {
    const { summary, description } = getWords(operation);
    const parameters = (operation.parameters ?? []).map(({ name, in: where, schema, ...rest }) => {
      const { required = false, description: words } = rest as { required?: boolean; description?: string };
      return {
        path: where === 'header' ? `${name}:` : name,
        schema: {
          ...schema,
          ...(words !== undefined && { description: words }),
        },
        required,
      };
    });
    const answer = operation.responses[200] as { content: Parameters<typeof toBodies>[1] };
    return [
      `### \`${method.toUpperCase()} ${path}\``,
      `${summary}. ${description}`,
      ...(parameters.length > 0 ? [`Headers and path:\n\n${toTable(parameters, hidden)}`] : []),
      ...toBodies('Request', operation.requestBody?.content ?? {}),
      ...toBodies('Answer', answer.content),
    ].join('\n\n');
  };

  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method, path, operation })),
  );
  const contents = operations.map(({ method, path, operation }) => {
    const name = `${method.toUpperCase()} ${path}`;
    return `| [\`${name}\`](#${toAnchor(name)}) | ${toCell(getWords(operation).summary)} |`;
  });
  const endpoints = operations.map(({ method, path, operation }) => toSection(method, path, operation));
  const contentsTable = ['| endpoint | what it does |', '| --- | --- |', ...contents].join('\n');
  const types = Object.entries(schemas)
    .filter(([name]) => !inlined.has(name) && !hidden.has(name))
    .map(([name, schema]) => `### ${name}\n\n${toBody('', schema, hidden)}`);
  return `${[intro.trimEnd(), '## Endpoints', contentsTable, ...endpoints, '## Types', ...types].join('\n\n')}\n`;
};
