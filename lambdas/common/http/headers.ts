import type { APIGatewayProxyEvent } from 'aws-lambda';

type Headers = Pick<APIGatewayProxyEvent, 'headers'>;

/** A header's value; undefined if there is none. Clients choose the case of its name. */
export const getHeader = (event: Headers, name: string): string | undefined => {
  const entry = Object.entries(event.headers ?? {}).find(([key]) => key.toLowerCase() === name);
  return entry?.[1];
};

/** The headers with their names in lower case. */
export const getHeaders = (event: Headers): Record<string, string | undefined> =>
  Object.fromEntries(Object.entries(event.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]));
