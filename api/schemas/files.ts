import * as z from 'zod/mini';
import { documented, nullish, projectId, rule } from '../../core/foundations/wire/schema.ts';
import { digestPattern } from '../../core/foundations/wire/weave-digest.ts';

/** The digest of a file, of an object or of a row. */
export const contentDigest = z
  .string()
  .check(
    z.refine(
      (text) => digestPattern.test(text),
      rule('should be a digest: 43 letters and digits, as it was answered'),
    ),
  )
  .register(documented, { name: 'ContentDigest', says: { pattern: digestPattern.source } });

/** A new file, checked. */
export const fileCreateBody = z.strictObject({
  project_id: projectId,
  file: z
    .custom<Uint8Array>((value) => value instanceof Uint8Array, rule('should be a file'))
    .register(documented, { says: { type: 'string', contentMediaType: 'application/octet-stream' } }),
  expected_digest: nullish(z.string()),
});

/** The body of `/file/content`: `{project_id, digest}`. */
export const fileContentBody = z.strictObject({ project_id: projectId, digest: contentDigest });
