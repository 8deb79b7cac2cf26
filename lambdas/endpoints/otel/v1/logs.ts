import { otelLogs } from '../../../../api/otel.ts';
import {
  decodeLogs,
  encodeLogsAnswer,
  selectRecords,
  storeRecords,
  uniqueProjects,
} from '../../../../core/doors/otel/index.ts';
import { stores } from '../../../common/http/stores.ts';
import { otlpEndpoint } from '../endpoint.ts';

/** `POST /otel/v1/logs`: OTLP/HTTP. Joins content with its spans, and makes calls of agents' records. */
export const handler = otlpEndpoint(
  otelLogs,
  async ({ bytes, encoding, packing, maxBytes, selection, caller, budget, writes }) => {
    const { records, rejected } = selectRecords(
      await decodeLogs(bytes, encoding, packing, maxBytes),
      selection,
    );
    writes(uniqueProjects(records));
    const stored = await storeRecords(stores, records, caller.user, budget);
    return { rows: stored.kept, rejected: [...rejected, ...stored.rejected] };
  },
  encodeLogsAnswer,
  stores.notes,
);
