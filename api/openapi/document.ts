import type { AcceptedScheme } from '../../foundations/auth/index.ts';
import { isKeyed, type Operation, type Route, tags, takesKey } from '../endpoint.ts';
import { error } from '../fields.ts';
import { routes } from '../routes.ts';
import {
  errorResponse,
  errorTexts,
  everyHeader,
  getErrorStatuses,
  named,
  otlpError,
  otlpRequest,
  requestExamples,
  rpcError,
  toContent,
} from './responses.ts';
import { type JsonSchema, type Schemas, toJsonSchema } from './schema.ts';

/** An OpenAPI 3.1 document, as far as the code and the tests read it. */
export interface OpenApiDocument {
  readonly openapi: string;
  readonly info: Readonly<Record<string, unknown>>;
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationObject>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, JsonSchema>> } & Readonly<
    Record<string, Readonly<Record<string, unknown>>>
  >;
}

export interface OperationObject {
  readonly operationId: string;
  readonly security: readonly object[];
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: 'header' | 'path' | 'query';
    readonly schema: JsonSchema;
  }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: JsonSchema }>> };
  readonly responses: Readonly<Record<string, object>>;
}

const lowerFirst = (name: string): string => name.slice(0, 1).toLowerCase() + name.slice(1);

const toResponses = (route: Route, operation: Operation, schemas: Schemas) => ({
  200: { description: 'It was done.', headers: everyHeader, content: toContent(route, operation, schemas) },
  ...Object.fromEntries(
    getErrorStatuses(route).map((status) => [
      status,
      route.form === 'otlp'
        ? otlpError(status)
        : route.form === 'rpc'
          ? rpcError(status)
          : { $ref: `#/components/responses/${status}` },
    ]),
  ),
  ...(route.form === 'upstream' && {
    default: {
      description: 'Any other status comes from the upstream, with its body.',
      headers: everyHeader,
    },
  }),
});

/** A parameter of a request. Its schema says what it means. */
const parameter = (
  name: string,
  where: 'header' | 'path' | 'query',
  { description, ...schema }: JsonSchema,
  required: boolean,
) => ({ name, in: where, required, description, schema });

const toHeaderParameters = ({ headers }: Route, schemas: Schemas) =>
  Object.entries(headers?.() ?? {}).map(([name, schema]) =>
    parameter(name, 'header', toJsonSchema(schema, schemas, 'input'), false),
  );

/** The fields of a request that stand in its path or, of a GET, in its query. */
const besideBody = ({ path, method }: Route, { properties = {}, required = [] }: JsonSchema) =>
  Object.entries(properties).flatMap(([name, schema]) => {
    const inPath = path.includes(`{${name}}`) || path.includes(`{${name}+}`);
    if (!inPath && method !== 'GET') return [];
    return [parameter(name, inPath ? 'path' : 'query', schema as JsonSchema, required.includes(name))];
  });

/** A schema without some of its fields. */
const without = (schema: JsonSchema, names: ReadonlySet<string>): JsonSchema => ({
  ...schema,
  properties: Object.fromEntries(
    Object.entries(schema.properties ?? {}).filter(([name]) => !names.has(name)),
  ),
  ...(schema.required && { required: schema.required.filter((name) => !names.has(name)) }),
});

/** Where the fields of a request stand: parameters, and what is left for its body. */
const toRequest = (route: Route, operation: Operation, schemas: Schemas) => {
  const headers = toHeaderParameters(route, schemas);
  if (route.form === 'otlp') return { parameters: headers, requestBody: otlpRequest(operation) };
  if (!route.request) return { parameters: headers };
  const converted = toJsonSchema(route.request(), schemas, 'input');
  const beside = besideBody(route, converted);
  const parameters = [...beside, ...headers];
  if (route.method === 'GET') return { parameters };
  const rest = beside.length > 0 ? without(converted, new Set(beside.map(({ name }) => name))) : converted;
  const schema = named(`${operation.name}Req`, rest, schemas);
  const content =
    route.takes === 'form'
      ? { 'multipart/form-data': { schema } }
      : { 'application/json': { schema, examples: requestExamples(operation) } };
  return { parameters, requestBody: { required: true, content } };
};

/** What satisfies a scheme. One of these is enough. */
const toSecurity = (scheme: AcceptedScheme): object[] =>
  ({
    basic: [{ basic: [] }],
    bearer: [{ bearer: [] }, { apiKey: [] }],
    any: [{ basic: [] }, { bearer: [] }],
  })[scheme];

const operationObject = (route: Route, operation: Operation, schemas: Schemas): OperationObject => {
  const { parameters, requestBody } = toRequest(route, operation, schemas);
  return {
    operationId: lowerFirst(operation.name),
    tags: [route.tag],
    summary: operation.summary,
    description: isKeyed(route)
      ? `${operation.description}\n\nThe key needs the role \`${route.role}\`.`
      : operation.description,
    security: takesKey(route) ? toSecurity(route.scheme) : [],
    ...(parameters.length > 0 && { parameters }),
    ...(requestBody && { requestBody }),
    responses: toResponses(route, operation, schemas),
  } as OperationObject;
};

const securitySchemes = () => {
  const key = 'A key is `svc_<16 of 0-9a-z>_<64 hex digits>`.';
  return {
    basic: {
      type: 'http',
      scheme: 'basic',
      description: `${key} It is the password; the username is the key's user, or \`api\`.`,
    },
    bearer: {
      type: 'http',
      scheme: 'bearer',
      description: `${key} It is the token. With the setting \`signIn\`, every path with credentials also takes the token of a person.`,
    },
    apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key', description: key },
  };
};

/** The same operation by GET, with its fields in the query. */
const byGet = (route: Route, operation: Operation, schemas: Schemas): OperationObject =>
  operationObject({ ...route, method: 'GET' } as Route, operation, schemas);

const toPaths = (schemas: Schemas): OpenApiDocument['paths'] =>
  Object.fromEntries(
    routes.flatMap((route) =>
      route.operations.map((operation) => [
        operation.operationPath ?? route.path,
        {
          [route.method.toLowerCase()]: operationObject(route, operation, schemas),
          ...(route.byGet && { get: byGet(route, { ...operation, ...route.byGet, examples: {} }, schemas) }),
        },
      ]),
    ),
  );

/** The groups of operations, with what each is about. */
const toTags = () =>
  Object.entries(tags)
    .filter(([name]) => routes.some(({ tag }) => tag === name))
    .map(([name, description]) => ({ name, description }));

/**
 * Makes the OpenAPI 3.1 document of the service from the descriptions of its endpoints.
 *
 * @param version the service's version
 * @throws Error if two schemas have one name
 */
export const openApiDocument = (version: string): OpenApiDocument => {
  const schemas: Schemas = new Map();
  const paths = toPaths(schemas);
  toJsonSchema(error(), schemas, 'output');
  // No endpoints but OTLP's and MCP's answer these, which have shapes of their own.
  const statuses = Object.keys(errorTexts)
    .map((status) => Number(status) as keyof typeof errorTexts)
    .filter((status) => status !== 400 && status !== 405);
  return {
    openapi: '3.1.1',
    info: {
      title: 'pennytrace',
      version,
      description:
        'Tracing, feedback and inference for LLM applications. Times come in as ISO 8601 with any offset, or in UTC without one. They go out in UTC with six fraction digits. Every answer carries the id of its request in `x-request-id`.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    // Relative to the document's own place: below the stage's path in API Gateway, and at the root
    // of the local service.
    servers: [{ url: '.', description: 'Where this document comes from.' }],
    tags: toTags(),
    paths,
    components: {
      securitySchemes: securitySchemes(),
      responses: Object.fromEntries(statuses.map((status) => [status, errorResponse(status)])),
      schemas: Object.fromEntries([...schemas].sort(([a], [b]) => (a < b ? -1 : 1))),
    },
  } as OpenApiDocument;
};
