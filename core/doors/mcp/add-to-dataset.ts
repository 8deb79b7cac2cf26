import { everyCall } from '../../../api/queries.ts';
import { addToDataset as description } from '../../../api/tools.ts';
import {
  asString,
  callRef,
  type JsonObject,
  type JsonValue,
  notFound,
} from '../../../foundations/wire/index.ts';
import { addRows } from '../../records/datasets.ts';
import { type Call, readCalls } from './calls.ts';
import { runs } from './context.ts';

export const addToDataset = runs(description, async (args, context) => {
  const { projectId, dataset, callIds, expected } = args;
  const { stores, caller, budget, links } = context;
  const calls = await readCalls(context, {
    projectId,
    filter: { ...everyCall, callIds },
    columns: ['inputs', 'output'],
  });
  const byId = new Map(calls.map((call) => [asString(call.id), call]));
  // Rows as the page makes them of calls, in the order in which they were asked for.
  const toRow = (id: string): JsonObject => {
    const call: Call | undefined = byId.get(id);
    if (!call)
      throw notFound(['body', 'call_ids'], `there is no call ${id} in ${projectId}; query_calls finds calls`);
    return {
      inputs: call.inputs as JsonValue,
      expected: expected ?? (call.output as JsonValue),
      source: callRef(projectId, id),
    };
  };
  const rows = [...new Set(callIds)].map(toRow);
  const name = { projectId, objectId: dataset };
  const { added, digest } = await addRows(stores.objects, name, rows, caller.user, budget);
  return {
    dataset: { name: dataset, digest, added, there_already: rows.length - added },
    url: links.object(projectId, dataset, undefined),
  };
});
