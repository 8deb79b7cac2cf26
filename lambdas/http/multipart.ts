import type { MiddlewareObj } from '@middy/core';
import { type Dialect, type ErrorDetail, invalid } from '../../core/foundations/wire/index.ts';
import { type BodySchema, parseValue } from '../../core/foundations/wire/parse-body.ts';
import { parseTolerantly } from '../../core/foundations/wire/tolerance.ts';
import { bodyBytes, unsupported } from './body.ts';
import { headerOf, type ServiceEvent } from './event.ts';

const multipartType = /^multipart\/form-data\s*;/i;

const broken: ErrorDetail = {
  loc: ['body'],
  msg: 'the body is no multipart/form-data with the boundary that content-type names',
  type: 'multipart_invalid',
};

/**
 * The parts of a form by their names: files as bytes, the others as text. The last of a name
 * counts.
 */
const partsOf = async (bytes: Buffer, type: string): Promise<Record<string, unknown>> => {
  const form = await new Response(Uint8Array.from(bytes), { headers: { 'content-type': type } })
    .formData()
    .catch(() => {
      throw invalid(broken);
    });
  const parts = Object.create(null) as Record<string, unknown>;
  for (const [name, part] of form)
    parts[name] = typeof part === 'string' ? part : new Uint8Array(await part.arrayBuffer());
  return parts;
};

/**
 * Reads a form (RFC 7578), and checks its parts against a schema. The platform parses it.
 *
 * @throws ServiceError 415 if it says that it is no form, 422 if it is none or does not fit
 */
export const readForm = <Body>(
  schema: BodySchema<Body>,
  dialect: Dialect,
): MiddlewareObj<ServiceEvent<Body>> => ({
  before: async ({ event }) => {
    const type = headerOf(event, 'content-type') ?? '';
    if (!multipartType.test(type.trim()))
      throw unsupported('content-type', 'should be multipart/form-data with its boundary');
    const parts = await partsOf(bodyBytes(event), type);
    if (dialect === 'svc') {
      event.service = { ...event.service, body: parseValue(schema, parts) };
      return;
    }
    const { value, passedOver } = parseTolerantly(schema, parts);
    event.log.passesOver(passedOver);
    event.service = { ...event.service, body: value };
  },
});
