import { tableQuery } from '../../api/requests.ts';
import { queryTable, rowJson } from '../../core/records/tables/index.ts';
import { jsonList } from '../http/json-list.ts';
import { settings } from '../http/settings.ts';
import { streamJsonEndpoint } from '../http/stream-json.ts';

/** `POST /table/query`: rows of a table, in its order or sorted. */
export const handler = streamJsonEndpoint(
  { ...tableQuery(), projects: ({ projectId }) => [{ projectId, loc: ['project_id'] }] },
  ({ body, budget }) => {
    let rows = 0;
    const texts = async function* () {
      for await (const batch of queryTable(settings.objects, body, budget)) yield batch.map(rowJson);
    };
    return {
      json: jsonList('rows', texts(), (count) => {
        rows += count;
      }),
      logged: () => ({ rows }),
      offset: body.offset,
    };
  },
);
