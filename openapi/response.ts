import { type Schemas, toJsonSchema } from './json-schema.ts';
import type { Example, Operation } from './operation.ts';
import { type JsonSchema, refTo } from './schema.ts';

type Content = Record<string, { schema: JsonSchema; examples?: Record<string, object> }>;

/** Makes a component of a schema that has no name yet. References stay as they are. */
export const named = (name: string, schema: JsonSchema, schemas: Schemas): JsonSchema => {
  if (schema.$ref !== undefined) return schema;
  schemas.set(name, schema);
  return refTo(name);
};

const examplesOf = (examples: Operation['examples'], value: (example: Example) => unknown) =>
  Object.fromEntries(
    Object.entries(examples).map(([name, example]) => [
      name,
      { summary: example.summary, value: value(example) },
    ]),
  );

/** The examples of an operation's requests. */
export const requestExamples = ({ examples }: Operation) => examplesOf(examples, ({ body }) => body);

const lines = (record: JsonSchema, mediaType: string): JsonSchema => ({
  type: 'string',
  description: 'One JSON object a line.',
  contentMediaType: mediaType,
  contentSchema: record,
});

/**
 * Records in each of their forms. A list comes first though lines are the default. Clients that
 * generators make ask for the first form that is called JSON, and parse it as one value.
 */
const recordContent = (record: JsonSchema, { examples }: Operation): Content => ({
  'application/json': {
    schema: { type: 'array', items: record },
    examples: examplesOf(examples, ({ answer }) => [answer]),
  },
  'application/jsonl': {
    schema: lines(record, 'application/jsonl'),
    examples: examplesOf(examples, ({ answer }) => `${JSON.stringify(answer)}\n`),
  },
  'application/x-ndjson': { schema: lines(record, 'application/x-ndjson') },
  'text/csv': {
    schema: { type: 'string', description: 'A line of names, then one line a record (RFC 4180).' },
  },
});

const upstreamContent = (answer: JsonSchema): Content => ({
  'application/json': { schema: answer },
  'text/event-stream': { schema: { description: "The upstream's server-sent events." } },
});

const otlpContent = (answer: JsonSchema, { examples }: Operation): Content => ({
  'application/json': { schema: answer, examples: examplesOf(examples, ({ answer: of }) => of) },
  'application/x-protobuf': { schema: { description: 'An `ExportTraceServiceResponse`.' } },
});

/** The content of a successful answer. */
export const contentOf = (operation: Operation, schemas: Schemas): Content => {
  const converted = toJsonSchema(operation.answer, schemas, 'output');
  if (operation.form === 'upstream') return upstreamContent(converted);
  if (operation.form === 'bytes')
    return { 'application/octet-stream': { schema: { description: 'The bytes, as they came.' } } };
  const schema = named(`${operation.name}Res`, converted, schemas);
  if (operation.form === 'records') return recordContent(schema, operation);
  if (operation.form === 'otlp') return otlpContent(schema, operation);
  return {
    'application/json': { schema, examples: examplesOf(operation.examples, ({ answer }) => answer) },
  };
};
