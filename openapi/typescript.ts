import type { OpenApiDocument } from './document.ts';
import type { JsonSchema } from './schema.ts';

/*
 * TypeScript's types of a document. The generators that others keep need the compiler as a library,
 * which TypeScript 7 is not. This one knows what our documents use.
 */

const isName = (key: string): boolean => /^[A-Za-z_$][\w$]*$/.test(key);

const keyOf = (key: string): string => (isName(key) ? key : `'${key.replaceAll("'", "\\'")}'`);

const literal = (value: unknown): string =>
  typeof value === 'string' ? `'${value.replaceAll("'", "\\'")}'` : JSON.stringify(value);

const union = (types: readonly string[]): string => [...new Set(types)].join(' | ') || 'never';

/** How long a line of a comment may become. */
const maxColumns = 100;

/** A text in lines that fit beside a comment's stars. */
const wrapped = (text: string, width: number): string[] => {
  const lines: string[] = [];
  for (const word of text.split(/\s+/)) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= width) lines.push(`${lines.pop()} ${word}`);
    else lines.push(word);
  }
  return lines;
};

const comment = (text: unknown, indent: string): string => {
  if (typeof text !== 'string') return '';
  const lines = wrapped(text.replaceAll('*/', '*\\/'), maxColumns - indent.length - 7);
  if (lines.length === 1) return `${indent}/** ${lines[0]} */\n`;
  return `${indent}/**\n${lines.map((line) => `${indent} * ${line}\n`).join('')}${indent} */\n`;
};

const objectType = (schema: JsonSchema, indent: string): string => {
  const {
    properties = {},
    required = [],
    additionalProperties,
  } = schema as {
    properties?: Record<string, JsonSchema>;
    required?: string[];
    additionalProperties?: JsonSchema | boolean;
  };
  const inner = `${indent}  `;
  const fields = Object.entries(properties).map(([key, field]) => {
    const optional = required.includes(key) ? '' : '?';
    const description = (field as { description?: unknown }).description;
    return `${comment(description, inner)}${inner}${keyOf(key)}${optional}: ${typeOf(field, inner)};\n`;
  });
  // A rest beside named fields takes values of any type: TypeScript's own rule for such a type.
  const isOpen = typeof additionalProperties === 'object';
  const rest = fields.length > 0 ? 'unknown' : isOpen ? typeOf(additionalProperties, inner) : 'unknown';
  if (fields.length === 0) return isOpen ? `Record<string, ${rest}>` : 'Record<string, never>';
  return `{\n${fields.join('')}${isOpen ? `${inner}[key: string]: unknown;\n` : ''}${indent}}`;
};

const listType = (schema: JsonSchema, indent: string): string => {
  const { items, prefixItems } = schema as { items?: JsonSchema; prefixItems?: JsonSchema[] };
  if (prefixItems) return `[${prefixItems.map((item) => typeOf(item, indent)).join(', ')}]`;
  return `(${items ? typeOf(items, indent) : 'unknown'})[]`;
};

const plainType = (type: string, schema: JsonSchema, indent: string): string => {
  if (type === 'object') return objectType(schema, indent);
  if (type === 'array') return listType(schema, indent);
  return type === 'integer' ? 'number' : type;
};

/** The TypeScript type of a schema. A schema that says nothing is of an unknown value. */
export const typeOf = (schema: JsonSchema, indent = ''): string => {
  const { $ref, enum: values, const: only, anyOf, oneOf, type } = schema as Record<string, unknown>;
  if (typeof $ref === 'string') return $ref.slice($ref.lastIndexOf('/') + 1);
  if (only !== undefined) return literal(only);
  if (Array.isArray(values)) return union(values.map(literal));
  const choices = anyOf ?? oneOf;
  if (Array.isArray(choices)) return union(choices.map((choice: JsonSchema) => typeOf(choice, indent)));
  const types = [type].flat().filter((name) => typeof name === 'string');
  return types.length === 0 ? 'unknown' : union(types.map((name) => plainType(name, schema, indent)));
};

const contentType = (content: Readonly<Record<string, { schema?: JsonSchema }>> | undefined): string =>
  content?.['application/json']?.schema ? typeOf(content['application/json'].schema, '    ') : 'undefined';

const operationTypes = ({ paths }: OpenApiDocument): string[] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { requestBody, responses }]) => {
      const { content } = (responses[200] ?? {}) as { content?: Record<string, { schema?: JsonSchema }> };
      const name = `${method.toUpperCase()} ${path}`;
      return `  '${name}': {\n    request: ${contentType(requestBody?.content)};\n    answer: ${contentType(content)};\n  };\n`;
    }),
  );

/**
 * The types of all requests and answers of a document, as the text of a module. There is one for
 * each component, and `Api` with the request and the answer of each operation.
 */
export const typesOf = (document: OpenApiDocument): string => {
  const components = Object.entries(document.components.schemas).map(
    ([name, schema]) =>
      `${comment((schema as { description?: unknown }).description, '')}export type ${name} = ${typeOf(schema)};\n`,
  );
  return [
    '// Made from the OpenAPI document by `npm run web:types`. Edit the schemas instead.\n',
    ...components,
    `/** What each operation takes and answers; \`undefined\` for no body or no JSON. */\nexport interface Api {\n${operationTypes(document).join('')}}\n`,
  ].join('\n');
};
