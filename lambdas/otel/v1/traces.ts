import { otelTraces } from '../../../api/otel.ts';
import {
  decodeExport,
  type Encoding,
  encodeAnswer,
  projectHeader,
  projectsOf,
  type SelectedSpans,
  selectSpans,
  storeSpans,
} from '../../../core/doors/otel/index.ts';
import { rawEndpoint } from '../../http/endpoint.ts';
import { logRequest, noteProject, readCaller } from '../../http/middlewares.ts';
import { bodyBytes, headerOf, type ServiceEvent, unsupported } from '../../http/request.ts';
import { settings } from '../../http/settings.ts';
import { answerOtlpErrors, encodingOf, otlpAnswer } from '../respond.ts';

type Event = ServiceEvent<unknown>;

const unknownType = unsupported('content-type', 'should be application/x-protobuf or application/json');

/** Decodes the body, and finds the spans that the caller may store. */
const spansOf = async (event: Event, encoding: Encoding): Promise<SelectedSpans> => {
  const received = await decodeExport(bodyBytes(event), encoding, headerOf(event, 'content-encoding') ?? '');
  const { grants } = event.service.caller;
  return selectSpans(received, { grants, header: headerOf(event, projectHeader), policy: settings.policy });
};

/**
 * `POST /otel/v1/traces`: OTLP/HTTP. Stores spans as calls and answers in the encoding of the
 * request. The answer is streamed, because API Gateway decodes no buffered one for clients that
 * send no `accept`.
 */
export const handler = rawEndpoint(
  otelTraces,
  async (event) => {
    const encoding = encodingOf(event);
    if (!encoding) throw unknownType;
    const { id, caller, budget } = event.service;
    const { spans, rejected } = await spansOf(event, encoding);
    const projects = projectsOf(spans);
    event.log.names(projects);
    projects.forEach(noteProject);
    await storeSpans(settings.calls, spans, caller.user, budget);
    const bytes = encodeAnswer(encoding, rejected);
    event.log.describes(() => ({ status: 200, rows: spans.length, bytes: bytes.length }));
    event.log.ends('answered');
    return otlpAnswer(200, encoding, bytes, { 'x-request-id': id });
  },
  ({ path }) => [logRequest(path), answerOtlpErrors(), readCaller()],
);
