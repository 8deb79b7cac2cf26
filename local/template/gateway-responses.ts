import { z } from 'zod';
import type { TemplateReader } from './reader.ts';

/** A gateway response as the template sets it. */
export interface GatewayResponseSpec {
  /** @default - the status of the response's type */
  readonly status?: number;
  /** Values by header name: a text in single quotes, or an expression like `context.requestId`. */
  readonly headers: Readonly<Record<string, string>>;
  /** Bodies by media type, with `$context` variables. @default - API Gateway's own */
  readonly templates: Readonly<Record<string, string>>;
}

const properties = z.object({
  ResponseType: z.string(),
  StatusCode: z.coerce.number().optional(),
  ResponseParameters: z.record(z.string(), z.string()).default({}),
  ResponseTemplates: z.record(z.string(), z.string()).default({}),
});

const headerPrefix = 'gatewayresponse.header.';

const headersOf = (parameters: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(parameters)
      .filter(([name]) => name.startsWith(headerPrefix))
      .map(([name, value]) => [name.slice(headerPrefix.length), value]),
  );

/** The gateway responses that the template sets, by type. */
export const readGatewayResponses = (reader: TemplateReader): ReadonlyMap<string, GatewayResponseSpec> => {
  const responses = reader.resources('AWS::ApiGateway::GatewayResponse', properties);
  return new Map(
    responses.map(({ properties: { ResponseType, StatusCode, ResponseParameters, ResponseTemplates } }) => {
      const spec = {
        headers: headersOf(ResponseParameters),
        templates: ResponseTemplates,
        ...(StatusCode !== undefined && { status: StatusCode }),
      };
      return [ResponseType, spec];
    }),
  );
};
