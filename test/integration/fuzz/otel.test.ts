import { randomUUID } from 'node:crypto';
import { create, type DescField, type DescMessage, fromBinary, toBinary } from '@bufbuild/protobuf';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { StatusSchema } from '../../../core/doors/otel/proto/google/rpc/status_pb.js';
import {
  ExportTraceServiceRequestSchema,
  ExportTraceServiceResponseSchema,
} from '../../../core/doors/otel/proto/opentelemetry/proto/collector/trace/v1/trace_service_pb.js';
import { runs, seed } from '../../support/sampling.ts';
import { type SharedService, sharedService } from '../../support/service.ts';

const protobuf = 'application/x-protobuf';

let service: SharedService;
beforeAll(async () => {
  service = await sharedService();
});

const send = async (body: Uint8Array<ArrayBuffer>, type = protobuf): Promise<[number, Uint8Array]> => {
  const answer = await fetch(`${service.url}/otel/v1/traces`, {
    method: 'POST',
    headers: { authorization: `Bearer ${service.key}`, 'content-type': type, project_id: 'acme/fuzz' },
    body,
  });
  return [answer.status, new Uint8Array(await answer.arrayBuffer())];
};

const text = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.constantFrom(
    '__proto__',
    'a.b.__proto__.c',
    'gen_ai.request.model',
    'gen_ai.usage.input_tokens',
    'gen_ai.prompt.0.content',
    'input.value',
    'llm.input_messages.0.message.role',
    'session.id',
    '{"a": [1, {"__proto__": {}}]}',
    '[',
  ),
);
const bytes = (name: string) => {
  const length = { trace_id: 16, span_id: 8, parent_span_id: 8 }[name];
  if (length === undefined) return fc.uint8Array({ maxLength: 20 });
  const id = fc.uint8Array({ minLength: length, maxLength: length });
  return fc.oneof({ weight: 9, arbitrary: id }, fc.uint8Array({ maxLength: 20 }));
};

/** Scalars by the names of their types. */
const scalar = (field: DescField): fc.Arbitrary<unknown> => {
  if (field.fieldKind === 'enum') return fc.integer({ min: 0, max: 7 });
  const type = String(field).includes('time') ? 'time' : field.scalar;
  if (type === 'time') return fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
  const [float, int64, uint64, int32, fixed64, fixed32, bool, string, ofBytes, uint32] = [
    ...[1, 3, 4, 5, 6, 7, 8, 9, 12, 13],
  ];
  switch (type) {
    case float:
      return fc.double();
    case int64:
      return fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
    case uint64:
    case fixed64:
      return fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
    case int32:
      return fc.integer({ min: 0, max: 9 });
    case fixed32:
    case uint32:
      return fc.nat(0x3ff);
    case bool:
      return fc.boolean();
    case string:
      return text;
    case ofBytes:
      return bytes(field.name);
    default:
      throw new Error(`no arbitrary for ${String(field)}`);
  }
};

const valueOfField = (field: DescField, levels: number): fc.Arbitrary<unknown> => {
  if (field.message && field.fieldKind === 'list')
    return fc.array(messageOf(field.message, levels - 1), { maxLength: levels > 0 ? 3 : 0 });
  if (field.message) return levels > 0 ? messageOf(field.message, levels - 1) : fc.constant(undefined);
  if (field.fieldKind === 'list') return fc.constant([]);
  return scalar(field);
};

/** Messages by their definition: every field of every message, to some depth. */
const messageOf = (desc: DescMessage, levels: number): fc.Arbitrary<object> => {
  const plain = desc.fields.filter((field) => field.oneof === undefined);
  const fields = Object.fromEntries(plain.map((field) => [field.localName, valueOfField(field, levels)]));
  const oneofs = Object.fromEntries(
    desc.oneofs.map((oneof) => [
      oneof.localName,
      fc.oneof(
        ...oneof.fields
          .filter((field) => levels > 0 || !field.message)
          .map((field) => valueOfField(field, levels).map((value) => ({ case: field.localName, value }))),
      ),
    ]),
  );
  return fc.record({ ...fields, ...oneofs }, { requiredKeys: [] });
};

const exports = messageOf(ExportTraceServiceRequestSchema, 9).map((init) =>
  toBinary(ExportTraceServiceRequestSchema, create(ExportTraceServiceRequestSchema, init as never)),
);

/** Ways to spoil bytes. */
const spoilt = fc.tuple(exports, fc.nat(), fc.nat(255), fc.boolean()).map(([whole, at, byte, cut]) => {
  const place = at % (whole.length + 1);
  if (cut) return whole.slice(0, place);
  const changed = whole.slice();
  changed[place] = byte;
  return changed;
});

const isWell = async (): Promise<void> => {
  const answer = await service.post('/call/read', { project_id: 'acme/fuzz', id: randomUUID() });
  expect(answer.status).toBe(200);
};

describe('any export', () => {
  it('made of the definitions is taken, or says what is wrong', async () => {
    await fc.assert(
      fc.asyncProperty(exports, async (body) => {
        const [status, answer] = await send(body);
        expect([200, 400]).toContain(status);
        if (status === 200) fromBinary(ExportTraceServiceResponseSchema, answer);
        else expect(fromBinary(StatusSchema, answer).message).not.toBe('');
      }),
      { numRuns: runs(30, 240), seed },
    );
    await isWell();
  });

  it('that is spoilt is taken as far as it can be read, or is a 400', async () => {
    await fc.assert(
      fc.asyncProperty(spoilt, async (body) => {
        const [status, answer] = await send(body);
        expect([200, 400]).toContain(status);
        fromBinary(status === 200 ? ExportTraceServiceResponseSchema : StatusSchema, answer);
      }),
      { numRuns: runs(30, 240), seed },
    );
    await isWell();
  });

  it('of bytes under the wrong content type is a 400 in JSON', async () => {
    const [status, answer] = await send(new Uint8Array([10, 0]), 'application/json');
    expect([status, JSON.parse(Buffer.from(answer).toString())]).toEqual([
      400,
      { code: 3, message: expect.any(String) },
    ]);
  });
});
