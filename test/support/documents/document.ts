import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { type JsonSchema, type OpenApiDocument, openApiDocument } from '../../../api/openapi/index.ts';
import { routes } from '../../../api/routes.ts';
import { parseTime } from '../../../foundations/wire/index.ts';

/** Every object of a schema, itself included. */
const objectsIn = (value: unknown): JsonSchema[] => {
  if (typeof value !== 'object' || value === null) return [];
  return [value as JsonSchema, ...Object.values(value).flatMap(objectsIn)];
};

/** What the document says of times in words alone. */
const timePattern = '^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{6}Z$';

/**
 * The document with no room for fields that it does not name: answers may gain fields, but not
 * unnoticed.
 */
const closeSchemas = (document: OpenApiDocument): OpenApiDocument => {
  const closed = structuredClone(document);
  for (const schema of objectsIn(closed.components.schemas)) {
    if (schema.type === 'object' && schema.properties) schema.additionalProperties ??= false;
  }
  Object.assign(closed.components.schemas.Timestamp ?? {}, { pattern: timePattern });
  return closed;
};

/** Resolves references of a schema that stands anywhere in the document. */
const inDocument = (schema: JsonSchema): JsonSchema =>
  JSON.parse(JSON.stringify(schema).replaceAll('"#/components/', '"document#/components/'));

const faultsBy = (by: Ajv2020, schema: JsonSchema): ((value: unknown) => string[]) => {
  const validate: ValidateFunction = by.compile(inDocument(schema));
  return (value) =>
    validate(value)
      ? []
      : (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
};

const readDocument = () => {
  const document = openApiDocument('0.1.0');
  const closed = closeSchemas(document);
  const newAjv = (): Ajv2020 => {
    const ajv = new Ajv2020({ strict: false, allErrors: true });
    addFormats.default(ajv);
    return ajv.addSchema(closed, 'document');
  };
  const ajv = newAjv();
  /** One that takes every time that the service reads: without an offset, as a date alone. */
  const ajvOfAnyTime = newAjv().addFormat('date-time', (text) => parseTime(text) !== undefined);

  /** One operation of the document. */
  const operationAt = (path: string) => {
    const operation = Object.values(document.paths[path] ?? {})[0];
    if (!operation) throw new Error(`the document has no ${path}`);
    return operation;
  };
  return {
    document,
    /** Every operation with its path in the document, in the order in which their examples work. */
    operations: routes.flatMap((route) =>
      route.operations.map((operation) => ({
        path: operation.operationPath ?? route.path,
        route,
        operation,
      })),
    ),
    operationAt,
    /** The method of an operation, as in a request. */
    methodAt: (path: string): string => Object.keys(document.paths[path] ?? {})[0]?.toUpperCase() ?? '',
    /** The schema of what an operation takes as JSON; undefined for a GET, and for a form. */
    requestSchema: (path: string): JsonSchema | undefined =>
      operationAt(path).requestBody?.content['application/json']?.schema,
    /** The schema of an operation's answer in a media type. */
    answerSchema: (path: string, mediaType: string): JsonSchema => {
      const { content } = operationAt(path).responses[200] as {
        content: Record<string, { schema: JsonSchema }>;
      };
      const schema = content[mediaType]?.schema;
      if (!schema) throw new Error(`${path} has no answer as ${mediaType}`);
      return schema;
    },
    /**
     * Makes what says what is wrong with a value by a schema of the document; an empty list where
     * nothing is.
     */
    validator: (schema: JsonSchema) => faultsBy(ajv, schema),
    /** As `validator`, but for times: they are taken in every form that the service reads. */
    validatorOfAnyTime: (schema: JsonSchema) => faultsBy(ajvOfAnyTime, schema),
    /** What says what is wrong with an error's body. */
    errorProblems: faultsBy(ajv, { $ref: '#/components/schemas/Error' }),
  };
};

const description = readDocument();

/** The document of the service, and what it says. */
export type Said = typeof description;

export const {
  document,
  operations,
  operationAt,
  requestSchema,
  answerSchema,
  validator,
  validatorOfAnyTime,
  errorProblems,
} = description;

export { description };
