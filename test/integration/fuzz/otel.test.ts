import { randomUUID } from 'node:crypto';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { arbitraryMessage } from '../../support/otel/otel-messages.ts';
import { StatusSchema } from '../../support/otel/proto/google/rpc/status_pb.js';
import {
  ExportTraceServiceRequestSchema,
  ExportTraceServiceResponseSchema,
} from '../../support/otel/proto/opentelemetry/proto/collector/trace/v1/trace_service_pb.js';
import { runs, seed } from '../../support/run/sampling.ts';
import { type SharedService, sharedService } from '../../support/service/service.ts';

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

const exports = arbitraryMessage(ExportTraceServiceRequestSchema, 9).map((init) =>
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
