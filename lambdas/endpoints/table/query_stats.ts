import { tableQueryStats } from '../../../api/tables.ts';
import { noTable, readSizes } from '../../../core/records/tables/index.ts';
import { endpoint } from '../../common/http/endpoint.ts';
import { stores } from '../../common/http/stores.ts';

/** `POST /table/query_stats`: how many rows a table has. */
export const handler = endpoint(tableQueryStats, async ({ body: { projectId, digest }, budget }) => {
  const size = (await readSizes(stores.objects, projectId, [digest], budget)).get(digest);
  if (!size) throw noTable(projectId, digest);
  return { count: size.count };
});
