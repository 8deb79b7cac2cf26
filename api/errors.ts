import * as z from 'zod/mini';
import { documented, field } from '../core/foundations/wire/schema.ts';

const detail = () =>
  z
    .object({
      loc: field(
        z.array(z.string()),
        'Its place: `["body", "batch", "3", "req", "start", "op_name"]`, `["header", "accept"]`.',
      ),
      msg: field(z.string(), 'What should be there.'),
      type: field(z.string(), "Its kind, by pydantic's names: `missing`, `string_type`, `value_error`, …"),
    })
    .register(documented, { name: 'ErrorDetail' });

/** The body of every error. */
export const error = () =>
  z
    .object({ detail: field(z.array(detail()), 'The problems of the request, at most 100.') })
    .register(documented, { name: 'Error' });
