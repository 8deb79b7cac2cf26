import type { MiddlewareObj } from '@middy/core';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import {
  type Dialect,
  type ErrorDetail,
  isJsonObject,
  ServiceError,
} from '../../core/foundations/wire/index.ts';
import { type BodySchema, parseValue } from '../../core/foundations/wire/parse-body.ts';
import { parseTolerantly } from '../../core/foundations/wire/tolerance.ts';
import { bodyJson } from './body.ts';
import type { ServiceEvent } from './event.ts';

/** What a request says, and where each field of it stands. */
interface Said {
  readonly value: unknown;
  readonly placeOf: (field: string) => 'body' | 'path' | 'query';
}

/** The parameters of the path by their names, but for those that take the rest of a path. */
const parametersOf = ({ resource, pathParameters }: APIGatewayProxyEvent): Record<string, unknown> =>
  Object.fromEntries(Object.entries(pathParameters ?? {}).filter(([name]) => resource.includes(`{${name}}`)));

/** The fields of a request. Those of the path win over others, since they are what was matched. */
const saidBy = (event: APIGatewayProxyEvent): Said => {
  const inPath = parametersOf(event);
  const isGet = event.httpMethod === 'GET';
  const value = isGet ? { ...event.queryStringParameters } : bodyJson(event);
  return {
    value: isJsonObject(value) ? Object.assign(value, inPath) : value,
    placeOf: (field) => (Object.hasOwn(inPath, field) ? 'path' : isGet ? 'query' : 'body'),
  };
};

/** Says of a problem where in the request it is. */
const placed =
  ({ placeOf }: Said) =>
  (detail: ErrorDetail): ErrorDetail => {
    const [where, field, ...rest] = detail.loc;
    if (where !== 'body' || field === undefined) return detail;
    return { ...detail, loc: [placeOf(field), field, ...rest] };
  };

/**
 * Reads what a request says and checks it against a schema: the body, or the query of a GET, and
 * the parameters of the path. Weave's dialect passes unknown fields over.
 */
export const readRequest = <Body>(
  schema: BodySchema<Body>,
  dialect: Dialect,
): MiddlewareObj<ServiceEvent<Body>> => ({
  before: ({ event }) => {
    const said = saidBy(event);
    try {
      if (dialect === 'svc') {
        event.service = { ...event.service, body: parseValue(schema, said.value) };
        return;
      }
      const { value, passedOver } = parseTolerantly(schema, said.value);
      event.log.passesOver(passedOver);
      event.service = { ...event.service, body: value };
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      throw new ServiceError(error.status, error.detail.map(placed(said)));
    }
  },
});
