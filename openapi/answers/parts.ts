import * as z from 'zod/mini';
import { documented } from '../../core/wire/schema.ts';

/*
 * What answers are made of. Nothing parses with these schemas: they are for the document alone, and
 * the tests check answers against that.
 */

/** A field of an answer, with what it means. */
export const field = <S extends z.ZodMiniType>(schema: S, description: string) =>
  schema.check(z.describe(description));

/** A point in time as it is answered. */
export const timestamp = z.string().register(documented, {
  name: 'Timestamp',
  says: {
    format: 'date-time',
    pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{6}Z$',
  },
});

/** A free-form JSON object. */
export const freeObject = z.looseObject({});

/** A whole number, which JSON does not tell from others. */
export const integer = z.int();

/** A number of bytes. */
export const bytes = z.int().check(z.minimum(0));

/** `{}`: the request was done. */
export const done = z.object({}).register(documented, { name: 'Done', says: { maxProperties: 0 } });

/** How many records were there, and no longer are. */
export const deleted = z
  .object({ num_deleted: field(z.int().check(z.minimum(0)), 'How many there were.') })
  .register(documented, { name: 'DeletedRes' });
