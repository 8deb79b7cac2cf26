import * as z from 'zod/mini';
import { documented } from '../../core/foundations/wire/schema.ts';

/*
 * The fields that answers share. Nothing parses with these schemas. They are for the document
 * alone, and tests check answers against that.
 */

/** A field of an answer and its meaning. */
export const field = <S extends z.ZodMiniType>(schema: S, description: string) =>
  schema.check(z.describe(description));

/**
 * A point in time as answers have it. It says no pattern, because openapi-generator's Python client
 * cannot be imported with one beside the format.
 */
export const timestamp = z.string().register(documented, {
  name: 'Timestamp',
  says: { format: 'date-time', description: 'In UTC, with six fraction digits and `Z`.' },
});

/** A free-form JSON object. */
export const freeObject = z.looseObject({});

/** A whole number. JSON does not tell it from others. */
export const integer = z.int();

/** A number of bytes. */
export const bytes = z.int().check(z.minimum(0));

/** `{}`: the request was done. */
export const done = z.object({}).register(documented, { name: 'Done', says: { maxProperties: 0 } });

/** How many records were deleted. */
export const deleted = z
  .object({ num_deleted: field(z.int().check(z.minimum(0)), 'How many there were.') })
  .register(documented, { name: 'DeletedRes' });
