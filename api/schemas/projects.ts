import * as z from 'zod/mini';
import type { Slice } from '../../core/foundations/listing/index.ts';
import { count, nullish } from '../../core/foundations/wire/schema.ts';

/** The body of `/projects/query`. */
export const projectsQueryBody: z.ZodMiniType<Slice> = z.pipe(
  z.strictObject({ limit: nullish(count), offset: nullish(count) }),
  z.transform(({ limit, offset }) => ({ limit: limit ?? null, offset: offset ?? 0 })),
);
