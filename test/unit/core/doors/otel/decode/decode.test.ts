import { create, type DescMessage, toBinary, toJsonString } from '@bufbuild/protobuf';
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeJson, decodeJsonLogs } from '../../../../../../core/doors/otel/decode/json.ts';
import { decodeProtobuf, decodeProtobufLogs } from '../../../../../../core/doors/otel/decode/protobuf.ts';
import { nested } from '../../../../../../core/doors/otel/values.ts';
import type { JsonObject } from '../../../../../../foundations/wire/index.ts';
import {
  attributes,
  exportBytes,
  exportJson,
  spanJson,
  spanMessage,
  startNanos,
  textAttribute,
} from '../../../../../support/otel/otel.ts';
import { arbitraryMessage } from '../../../../../support/otel/otel-messages.ts';
import { ExportLogsServiceRequestSchema } from '../../../../../support/otel/proto/opentelemetry/proto/collector/logs/v1/logs_service_pb.js';
import { ExportTraceServiceRequestSchema } from '../../../../../support/otel/proto/opentelemetry/proto/collector/trace/v1/trace_service_pb.js';
import { runs, seed } from '../../../../../support/run/sampling.ts';

const ofJson = (...spans: JsonObject[]) => decodeJson(JSON.stringify(exportJson({}, spans)));
const decodeAttributes = (values: unknown) =>
  ofJson(spanJson({ attributes: values as never })).spans[0]?.span.attributes;

/** A message in protobuf and in OTLP's JSON, which has ids in hex digits. */
const bothWays = (desc: DescMessage, init: object): readonly [Uint8Array, string] => {
  const message = create(desc, init as never);
  const json = toJsonString(desc, message, { enumAsInteger: true }).replace(
    /"(traceId|spanId|parentSpanId)":"([^"]*)"/g,
    (_, name, id) => `"${name}":"${Buffer.from(id, 'base64').toString('hex')}"`,
  );
  return [toBinary(desc, message), json];
};

describe('protobuf', () => {
  it.each([
    ['spans', ExportTraceServiceRequestSchema, decodeProtobuf, decodeJson],
    ['log records', ExportLogsServiceRequestSchema, decodeProtobufLogs, decodeJsonLogs],
  ] as const)(
    'made of the official definitions says the same of %s as their JSON',
    (_, desc, read, readJson) => {
      fc.assert(
        fc.property(arbitraryMessage(desc, 9), (init) => {
          const [bytes, json] = bothWays(desc, init);
          // A clone of a Buffer is an Uint8Array.
          expect(structuredClone(read(bytes))).toEqual(structuredClone(readJson(json)));
        }),
        { numRuns: runs(200, 2000), seed },
      );
    },
  );

  it('with strings that are no UTF-8 has U+FFFD in their place', () => {
    const bytes = exportBytes('acme/x', [spanMessage({ attributes: [textAttribute('cut', 'caf##')] })]);
    const at = Buffer.from(bytes).indexOf('##');
    bytes.set([0xc3, 0x28], at);
    expect(decodeProtobuf(bytes).spans[0]?.span.attributes.get('cut')).toBe('caf\ufffd(');
  });

  it('with fields that are not known yet is read', () => {
    const later = new BinaryWriter().tag(99, WireType.LengthDelimited).string('later').finish();
    const bytes = Buffer.concat([exportBytes('acme/x', [spanMessage()]), later]);
    expect(decodeProtobuf(bytes).spans).toHaveLength(1);
  });

  it('has doubles that are no integers', () => {
    const doubles = [1, -0, 0, -3, 0.5, 1e16, 1e300, Number.NaN];
    const span = spanMessage({
      attributes: doubles.map((value, i) => ({
        key: String(i),
        value: { value: { case: 'doubleValue', value } },
      })),
    } as never);
    const read = decodeProtobuf(exportBytes('acme/x', [span])).spans[0]?.span.attributes ?? new Map();
    const written = '{"0":1.0,"1":-0.0,"2":0.0,"3":-3.0,"4":0.5,"5":1e+16,"6":1e+300,"7":"NaN"}';
    expect(JSON.stringify(nested(read))).toBe(written);
    const values = doubles.map((doubleValue, i) => ({
      key: String(i),
      value: { doubleValue: Number.isNaN(doubleValue) ? 'NaN' : doubleValue },
    }));
    const json = JSON.stringify(exportJson({}, [spanJson({ attributes: values as never })]));
    const same = decodeJson(
      json.replace('"1","value":{"doubleValue":0}', '"1","value":{"doubleValue":-0.0}'),
    );
    expect(JSON.stringify(nested(same.spans[0]?.span.attributes ?? new Map()))).toBe(written);
    expect(JSON.stringify(nested([['int', 1]]))).toBe('{"int":1}');
  });

  it('nests lists some hundred levels and not thousands', () => {
    const nested = (levels: number) => {
      type Value = { value: { case: 'arrayValue'; value: { values: Value[] } } };
      let value: Value = { value: { case: 'arrayValue', value: { values: [] } } };
      for (let i = 1; i < levels; i++) value = { value: { case: 'arrayValue', value: { values: [value] } } };
      const span = spanMessage({ attributes: [{ key: 'deep', value }] } as never);
      return toBinary(
        ExportTraceServiceRequestSchema,
        create(ExportTraceServiceRequestSchema, {
          resourceSpans: [{ scopeSpans: [{ spans: [span] }] }],
        } as never),
      );
    };
    expect(decodeProtobuf(nested(200)).spans).toHaveLength(1);
    expect(() => decodeProtobuf(nested(400))).toThrow('messages nest more than 600 levels deep');
  });

  it('of millions of empty messages, which a small body unfolds to, is a 413 before memory runs out', () => {
    const inField = (field: number, message: Uint8Array) =>
      new BinaryWriter().tag(field, WireType.LengthDelimited).bytes(message).finish();
    const empty = (field: number) => Buffer.from([(field << 3) | WireType.LengthDelimited, 0]);
    const many = (field: number) => Buffer.concat(Array.from({ length: 500_001 }, () => empty(field)));
    const ofSpan = (span: Uint8Array) => inField(1, inField(2, inField(2, span)));
    for (const body of [
      inField(1, inField(2, many(2))),
      ofSpan(many(11)),
      ofSpan(many(13)),
      inField(1, many(2)),
      many(1),
    ])
      expect(() => decodeProtobuf(body)).toThrow(expect.objectContaining({ status: 413 }));
  });

  it('of 10,000 attributes keeps all, and the last of those that are twice', () => {
    const list = Array.from({ length: 10_000 }, (_, i) => textAttribute(`a.${i}`, `${i}`));
    const bytes = exportBytes('acme/x', [
      spanMessage({ attributes: [...list, textAttribute('a.7', 'last')] }),
    ]);
    const made = decodeProtobuf(bytes).spans[0]?.span.attributes;
    expect([made?.size, made?.get('a.7')]).toEqual([10_000, 'last']);
  });
});

describe('JSON', () => {
  it('has values of each kind', () => {
    expect(
      Object.fromEntries(
        decodeAttributes([
          ...attributes({ text: 'x', yes: true, int: 7, float: 1.5, list: [1, 'a'], none: null }),
          { key: 'number', value: { intValue: 8 } },
          { key: 'huge', value: { intValue: '9223372036854775807' } },
          { key: 'infinite', value: { doubleValue: '-Infinity' } },
          { key: 'bytes', value: { bytesValue: '/wA=' } },
          { key: 'later', value: { newValue: 1, stringValue: 'x' } },
          { key: 'object', value: { kvlistValue: { values: attributes({ a: { b: 1 } }) } } },
        ]) ?? [],
      ),
    ).toEqual({
      text: 'x',
      yes: true,
      int: 7,
      float: 1.5,
      list: [1, 'a'],
      none: null,
      number: 8,
      huge: 9223372036854775807n,
      infinite: Number.NEGATIVE_INFINITY,
      bytes: Buffer.from([255, 0]),
      later: 'x',
      object: { a: { b: 1 } },
    });
  });

  it('takes fields that are null, names of enumerations, and fields that are not known', () => {
    const { spans } = ofJson(
      spanJson({ kind: 'SPAN_KIND_CLIENT', status: { code: 'STATUS_CODE_ERROR' }, events: null, later: 1 }),
    );
    expect(spans[0]?.span).toMatchObject({ kind: 3, status: { code: 2, message: '' }, events: [] });
  });

  it('knows whether the parent is in another process', () => {
    const { spans } = ofJson(spanJson({ flags: 0x301 }), spanJson({ flags: 0x101 }), spanJson());
    expect(spans.map(({ hasRemoteParent }) => hasRemoteParent)).toEqual([true, false, false]);
  });

  it.each<[string, JsonObject, string]>([
    ['an id that is no hex', { traceId: 'W47/95gDgQPSabYzgT/GDA==' }, 'traceId should be hex digits'],
    ['an id of another length', { spanId: 'eee19b7ec3c1b1' }, 'span_id should be 8 bytes'],
    ['a time that is none', { startTimeUnixNano: 'now' }, 'startTimeUnixNano should be an integer'],
    ['a time before 1970', { startTimeUnixNano: -1 }, 'startTimeUnixNano should be an integer of 64 bits'],
    ['events that are no list', { events: {} }, 'events should be a list of objects'],
    ['a value of another type', { attributes: [{ key: 'a', value: { boolValue: 'yes' } }] }, 'boolValue'],
    ['a name that is no text', { name: 7 }, 'name should be a string'],
  ])('with %s rejects that span alone', (_, fields, reason) => {
    const { spans, rejected } = ofJson(spanJson(), spanJson(fields));
    expect(spans).toHaveLength(1);
    expect(rejected).toEqual([{ count: 1, reason: expect.stringContaining(reason) }]);
  });

  it('with a value that nests without end rejects that span alone', () => {
    const deep = `${'{"arrayValue":{"values":['.repeat(5000)}${']}}'.repeat(5000)}`;
    const text = JSON.stringify(exportJson({}, [spanJson(), spanJson({ attributes: 'DEEP' })]));
    const { spans, rejected } = decodeJson(text.replace('"DEEP"', `[{"key":"a","value":${deep}}]`));
    expect([spans.length, rejected[0]?.count]).toEqual([1, 1]);
  });

  it('takes an end before its start, and one unknown time from the other', () => {
    const times = (start: bigint, end: bigint) => {
      const { spans } = ofJson(spanJson({ startTimeUnixNano: `${start}`, endTimeUnixNano: `${end}` }));
      return [spans[0]?.span.startTimeUnixNano, spans[0]?.span.endTimeUnixNano];
    };
    expect(times(startNanos, startNanos - 5n)).toEqual([startNanos, startNanos - 5n]);
    expect(times(startNanos, 0n)).toEqual([startNanos, startNanos]);
    expect(times(0n, startNanos)).toEqual([startNanos, startNanos]);
  });
});
