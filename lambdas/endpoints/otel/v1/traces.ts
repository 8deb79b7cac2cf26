import { otelTraces } from '../../../../api/otel.ts';
import {
  decodeExport,
  encodeAnswer,
  selectSpans,
  storeSpans,
  uniqueProjects,
} from '../../../../core/doors/otel/index.ts';
import { stores } from '../../../common/http/stores.ts';
import { otlpEndpoint } from '../endpoint.ts';

/** `POST /otel/v1/traces`: OTLP/HTTP. Stores spans as calls. */
export const handler = otlpEndpoint(
  otelTraces,
  async ({ bytes, encoding, packing, selection, caller, budget, writes }) => {
    const { spans, rejected } = selectSpans(await decodeExport(bytes, encoding, packing), selection);
    writes(uniqueProjects(spans));
    const stored = await storeSpans(stores, spans, caller.user, budget);
    return { rows: stored.kept, rejected: [...rejected, ...stored.rejected] };
  },
  encodeAnswer,
  stores.notes,
);
