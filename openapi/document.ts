import {
  type AcceptedScheme,
  isKeyed,
  type Route,
  type RoutePath,
  routesOf,
  takesKey,
} from '../api/routes.ts';
import { type Dialect, type WireNames, wireNames } from '../core/foundations/wire/index.ts';
import { error } from './answers/error.ts';
import { describeFields } from './describe.ts';
import { errorResponse, errorsOf, errorTexts, headers } from './errors.ts';
import { type Schemas, toJsonSchema } from './json-schema.ts';
import type { Operation } from './operation.ts';
import { operationsOf } from './operations/index.ts';
import { otlpError, otlpRequest } from './otlp.ts';
import { contentOf, named, requestExamples } from './response.ts';
import type { JsonSchema } from './schema.ts';
import { tagsIn } from './tags.ts';
import { type Texts, textsOf } from './texts.ts';

/** An OpenAPI 3.1 document, as far as the code and the tests read it. */
export interface OpenApiDocument {
  readonly openapi: string;
  readonly info: Readonly<Record<string, unknown>>;
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationObject>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, JsonSchema>> } & Readonly<
    Record<string, Readonly<Record<string, unknown>>>
  >;
}

/** One operation of a document. */
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

const header = { 'x-request-id': headers['x-request-id'] };

const responsesOf = (route: Route, operation: Operation, schemas: Schemas) => ({
  200: { description: 'It was done.', headers: header, content: contentOf(operation, schemas) },
  ...Object.fromEntries(
    errorsOf(route, operation).map((status) => [
      status,
      operation.form === 'otlp' ? otlpError(status) : { $ref: `#/components/responses/${status}` },
    ]),
  ),
  ...(operation.form === 'upstream' && {
    default: {
      description: 'Any other status comes from the upstream, with its body.',
      headers: header,
    },
  }),
});

/** A parameter of a request. */
const parameter = (
  name: string,
  where: 'header' | 'path' | 'query',
  description: string | undefined,
  schema: JsonSchema,
  required: boolean,
) => ({ name, in: where, required, description, schema });

const headersOf = (operation: Operation, schemas: Schemas) =>
  Object.entries(operation.headers ?? {}).map(([name, { schema, description }]) =>
    parameter(name, 'header', description, toJsonSchema(schema, schemas, 'input'), false),
  );

/** The fields of a request that stand in its path or, of a GET, in its query. */
const besideBody = ({ path, method }: Route, { properties = {}, required = [] }: JsonSchema, texts: Texts) =>
  Object.entries(properties).flatMap(([name, schema]) => {
    const inPath = path.includes(`{${name}}`);
    if (!inPath && method !== 'GET') return [];
    const where = inPath ? 'path' : 'query';
    return [parameter(name, where, texts[name], schema as JsonSchema, required.includes(name))];
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
const takenBy = (names: WireNames, route: Route, operation: Operation, schemas: Schemas) => {
  const headers = headersOf(operation, schemas);
  if (operation.form === 'otlp') return { parameters: headers, requestBody: otlpRequest(operation) };
  if (!operation.request) return { parameters: headers };
  const converted = toJsonSchema(operation.request(names).body, schemas, 'input');
  const beside = besideBody(route, converted, textsOf(names));
  const parameters = [...beside, ...headers];
  if (route.method === 'GET') return { parameters };
  const rest = beside.length > 0 ? without(converted, new Set(beside.map(({ name }) => name))) : converted;
  const schema = named(`${operation.name}Req`, rest, schemas);
  const content =
    operation.takes === 'form'
      ? { 'multipart/form-data': { schema } }
      : { 'application/json': { schema, examples: requestExamples(operation) } };
  return { parameters, requestBody: { required: true, content } };
};

/** One of these is enough. */
const securityOf = (scheme: AcceptedScheme): object[] =>
  scheme === 'any' ? [{ basic: [] }, { bearer: [] }] : [{ [scheme]: [] }];

const operationObject = (
  names: WireNames,
  route: Route,
  operation: Operation,
  schemas: Schemas,
): OperationObject => {
  const { parameters, requestBody } = takenBy(names, route, operation, schemas);
  return {
    operationId: lowerFirst(operation.name),
    tags: [operation.tag],
    summary: operation.summary,
    description: isKeyed(route)
      ? `${operation.description}\n\nThe key needs the role \`${route.role}\`.`
      : operation.description,
    security: takesKey(route) ? securityOf(route.scheme) : [],
    ...(parameters.length > 0 && { parameters }),
    ...(requestBody && { requestBody }),
    responses: responsesOf(route, operation, schemas),
  } as OperationObject;
};

const securitySchemes = (names: WireNames) => {
  const key = `A key is \`${names.service}_<16 of 0-9a-z>_<64 hex digits>\`.`;
  return {
    basic: {
      type: 'http',
      scheme: 'basic',
      description: `${key} It is the password; the username is the key's user, or \`api\`.`,
    },
    bearer: { type: 'http', scheme: 'bearer', description: `${key} It is the token.` },
  };
};

const pathsOf = (names: WireNames, schemas: Schemas): OpenApiDocument['paths'] => {
  const operations = operationsOf(names);
  const routes = routesOf(names.dialect);
  const paths = Object.keys(operations).flatMap((path) => {
    const route = routes.find((candidate) => candidate.path === path);
    // Every path has a route, in one dialect or the other: the types see to it.
    if (!route) return [];
    return operations[path as RoutePath].map(
      (operation: Operation): [string, OpenApiDocument['paths'][string]] => [
        operation.path ?? path,
        { [route.method.toLowerCase()]: operationObject(names, route, operation, schemas) },
      ],
    );
  });
  return Object.fromEntries(paths);
};

/** Describes each field, and sorts the components by name. */
const componentsOf = (names: WireNames, schemas: Schemas): Record<string, JsonSchema> => {
  const texts = textsOf(names);
  for (const schema of schemas.values()) describeFields(schema, texts);
  return Object.fromEntries([...schemas].sort(([a], [b]) => (a < b ? -1 : 1)));
};

/**
 * Makes the OpenAPI 3.1 document of the service. Its sources are the list of routes, the texts for
 * them, and the schemas that handlers parse with.
 *
 * @param serviceName the service's name on the wire, e.g. `svc`
 * @param version the service's version
 * @param dialect decides which endpoints there are
 * @throws Error if two schemas have one name, or a field of a request has no text
 */
export const openApiDocument = (
  serviceName: string,
  version: string,
  dialect: Dialect = 'svc',
): OpenApiDocument => {
  const names = wireNames(serviceName, dialect);
  const schemas: Schemas = new Map();
  const paths = pathsOf(names, schemas);
  toJsonSchema(error, schemas, 'output');
  // No endpoint but OTLP's answers 400, which has the shape of its own.
  const statuses = Object.keys(errorTexts)
    .map((status) => Number(status) as keyof typeof errorTexts)
    .filter((status) => status !== 400);
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
    tags: tagsIn(dialect),
    paths,
    components: {
      securitySchemes: securitySchemes(names),
      responses: Object.fromEntries(statuses.map((status) => [status, errorResponse(status)])),
      schemas: componentsOf(names, schemas),
    },
  } as OpenApiDocument;
};
