import * as z from 'zod/mini';
import { purgeByIdList } from '../../core/foundations/wire/purge.ts';
import { projectId } from '../../core/foundations/wire/schema.ts';

/** The body of a purge in Weave's dialect: its `query` may also be an `$in` of ids. */
export const purgeByListBody = z.strictObject({ project_id: projectId, query: purgeByIdList });
