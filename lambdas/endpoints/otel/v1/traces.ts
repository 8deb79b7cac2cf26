import { otelTraces } from '../../../../api/otel.ts';
import {
  addSpans,
  decodeExport,
  encodeAnswer,
  selectSpans,
  storeSpans,
  uniqueProjects,
} from '../../../../core/doors/otel/index.ts';
import { mayOnlyAdd } from '../../../common/http/request.ts';
import { stores } from '../../../common/http/stores.ts';
import { otlpEndpoint } from '../endpoint.ts';

/** `POST /otel/v1/traces`: OTLP/HTTP. Stores spans as calls. */
export const handler = otlpEndpoint(
  otelTraces,
  async ({ bytes, encoding, packing, maxBytes, selection, caller, budget, writes }) => {
    const { spans, rejected } = selectSpans(
      await decodeExport(bytes, encoding, packing, maxBytes),
      selection,
    );
    const projects = uniqueProjects(spans);
    writes(projects);
    const store = mayOnlyAdd(caller, projects) ? addSpans : storeSpans;
    const stored = await store(stores, spans, caller.user, budget);
    return { rows: stored.kept, rejected: [...rejected, ...stored.rejected] };
  },
  encodeAnswer,
  stores.notes,
);
