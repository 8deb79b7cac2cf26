import * as z from 'zod/mini';
import { freeObject, nullish } from '../../core/foundations/wire/schema.ts';

/** The body of `/graphql`: `{query, variables}`. */
export const graphqlBody = z.strictObject({
  query: z.string(),
  variables: nullish(freeObject),
  operationName: nullish(z.string()),
});
