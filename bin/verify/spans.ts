import { randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { ask, must, readJson, type Target, theLog } from './check.ts';

const makeSpan = (id: string) => ({ traceId: randomUUID().replaceAll('-', ''), spanId: id, name: 'verify' });

export const spansAsJson = async (target: Target): Promise<void> => {
  const now = String(Date.now() * 1_000_000);
  const span = { ...makeSpan('00000000000000a1'), startTimeUnixNano: now, endTimeUnixNano: now };
  const body = { resourceSpans: [{ scopeSpans: [{ spans: [span] }] }] };
  const headers = { project_id: target.project };
  const answer = await readJson(await ask(target, '/otel/v1/traces', { body, headers }));
  must(!('partialSuccess' in Object(answer)), `spans were refused: ${JSON.stringify(answer)}`, theLog);
};

export const spansAsProtobuf = async (target: Target): Promise<void> => {
  const now = BigInt(Date.now()) * 1_000_000n;
  const { traceId, spanId, name } = makeSpan('00000000000000b2');
  const { Bit64, LengthDelimited } = WireType;
  const span = new BinaryWriter()
    .tag(1, LengthDelimited)
    .bytes(Buffer.from(traceId, 'hex'))
    .tag(2, LengthDelimited)
    .bytes(Buffer.from(spanId, 'hex'))
    .tag(5, LengthDelimited)
    .string(name)
    .tag(7, Bit64)
    .fixed64(now)
    .tag(8, Bit64)
    .fixed64(now)
    .finish();
  const inField = (field: number, message: Uint8Array) =>
    new BinaryWriter().tag(field, LengthDelimited).bytes(message).finish();
  // ExportTraceServiceRequest.resource_spans, ResourceSpans.scope_spans, ScopeSpans.spans
  const body = inField(1, inField(2, inField(2, span)));
  const headers = { project_id: target.project, 'content-type': 'application/x-protobuf' };
  const advice = 'see docs/decisions/0154: how the gateway passes protobuf on';
  for (const [how, sendSpans] of [
    ['plain', () => ask(target, '/otel/v1/traces', { body, headers })],
    [
      'gzip',
      () =>
        ask(target, '/otel/v1/traces', {
          body: new Uint8Array(gzipSync(body)),
          headers: { ...headers, 'content-encoding': 'gzip' },
        }),
    ],
  ] as const) {
    const answer = await sendSpans();
    const type = answer.headers.get('content-type');
    const text = await answer.text();
    must(answer.status === 200, `${how}: ${answer.status} ${text.slice(0, 200)}`, advice);
    must(type === 'application/x-protobuf', `${how}: the answer is ${type}`, advice);
  }
};
