import { objsQuery } from '../../../api/objects.ts';
import { queryObjects } from '../../../core/records/objects/index.ts';
import { jsonList } from '../../common/http/answer.ts';
import { endpoint, streamJson } from '../../common/http/endpoint.ts';
import { stores } from '../../common/http/stores.ts';

/**
 * `POST /objs/query`: the versions of a project's objects that match, streamed as one JSON object.
 */
export const handler = endpoint(objsQuery, ({ body, budget, describe, door }) => {
  let rows = 0;
  describe(() => ({ rows }));
  const wrote = (count: number) => {
    rows += count;
  };
  const versions = queryObjects(stores.objects, body, budget, door.names);
  return streamJson(jsonList('objs', versions, wrote), body.offset);
});
