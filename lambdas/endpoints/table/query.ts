import { tableQuery } from '../../../api/tables.ts';
import { queryTable, rowJson } from '../../../core/records/tables/index.ts';
import { jsonList } from '../../common/http/answer.ts';
import { endpoint, streamJson } from '../../common/http/endpoint.ts';
import { stores } from '../../common/http/stores.ts';

/** `POST /table/query`: rows of a table, in its order or sorted. */
export const handler = endpoint(tableQuery, ({ body, budget, describe }) => {
  let rows = 0;
  describe(() => ({ rows }));
  const texts = async function* () {
    for await (const batch of queryTable(stores.objects, body, budget)) yield batch.map(rowJson);
  };
  const wrote = (count: number) => {
    rows += count;
  };
  return streamJson(jsonList('rows', texts(), wrote), body.offset);
});
