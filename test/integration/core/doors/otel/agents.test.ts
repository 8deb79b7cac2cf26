import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { decodeExport, decodeLogs, storeRecords, storeSpans } from '../../../../../core/doors/otel/index.ts';
import { deleteCalls } from '../../../../../core/records/calls/index.ts';
import { type FindPattern, Redactor } from '../../../../../foundations/redaction/index.ts';
import { requestBudget, type Store } from '../../../../../foundations/storage/index.ts';
import { isJsonObject, type JsonObject, type ProjectId } from '../../../../../foundations/wire/index.ts';
import { findKinds, interleaved } from '../../../../support/faults/intercepted.ts';
import { type AgentCapture, readAgentCapture } from '../../../../support/otel/agent-captures.ts';
import { createCallStore, query } from '../../../../support/values/calls.ts';
import { createFeedbackStore } from '../../../../support/values/feedback.ts';
import '../../../../support/run/properties.ts';
import { runs, sample } from '../../../../support/run/sampling.ts';
import { everythingStored } from '../../../../support/stored/stored.ts';

let store: Store;
let stores: { readonly calls: Store; readonly feedback: Store };
beforeAll(async () => {
  store = await createCallStore();
  stores = { calls: store, feedback: await createFeedbackStore() };
});

let projects = 0;
const newProject = () => `acme/meeting-${projects++}` as ProjectId;
const budget = () => requestBudget(60_000);

/** One span or log record of a capture, which can be sent in any request. */
type Piece = (projectId: ProjectId) => { readonly span?: Span; readonly record?: LogRecord };
type Span = Parameters<typeof storeSpans>[1][number];
type LogRecord = Parameters<typeof storeRecords>[1][number];

const toPieces = async ({ requests }: AgentCapture): Promise<Piece[]> => {
  const pieces = await Promise.all(
    requests.map(async ({ path, body, headers }): Promise<Piece[]> => {
      const encoding = headers['content-type']?.includes('json')
        ? 'application/json'
        : 'application/x-protobuf';
      const packing = headers['content-encoding'] ?? '';
      if (path === '/v1/logs') {
        const { records } = await decodeLogs(body, encoding, packing);
        return records.map((record) => (projectId) => ({ record: { ...record, projectId } }));
      }
      const { spans } = await decodeExport(body, encoding, packing);
      return spans.map((span) => (projectId) => ({ span: { ...span, projectId } }));
    }),
  );
  return pieces.flat();
};

const sendAll = async (projectId: ProjectId, pieces: readonly Piece[], to = stores): Promise<void> => {
  const sent = pieces.map((piece) => piece(projectId));
  const spans = sent.flatMap(({ span }) => span ?? []);
  const records = sent.flatMap(({ record }) => record ?? []);
  if (spans.length > 0) await storeSpans(to, spans, 'ada', budget());
  if (records.length > 0) await storeRecords(to, records, 'ada', budget());
};

const readCalls = async (projectId: ProjectId): Promise<JsonObject[]> => {
  const calls: JsonObject[] = await query(store, { projectId });
  return calls
    .map((call): JsonObject => ({ ...call, project_id: '' }))
    .sort((a, b) => (String(a.id) < String(b.id) ? -1 : 1));
};

const names = [
  'claude-code-logs',
  'claude-code-spans-and-logs',
  'claude-code-background-agent',
  'claude-code-parallel-agents',
  'codex-logs',
] as const;

it.each([...names, 'langgraph-interrupt-resume'] as const)(
  '%s happens when it did, whatever numbers redaction takes',
  async (name) => {
    const pieces = await toPieces(await readAgentCapture(name));
    const long: FindPattern = (text) =>
      Array.from(
        text.matchAll(/[0-9]{13,}/g),
        ({ 0: found, index }) => [index, index + found.length] as const,
      );
    const redactor = new Redactor([{ name: 'long', pattern: 'long', action: 'label' }], 'key', () => long);
    const plain = newProject();
    const redacted = newProject();
    await sendAll(plain, pieces);
    await sendAll(redacted, pieces, { ...stores, calls: { ...store, redactor: async () => redactor } });
    const seen = async (projectId: ProjectId) =>
      (await readCalls(projectId)).map(({ id, started_at, ended_at, turn_id, summary }) => ({
        id,
        started_at,
        ended_at,
        turn_id,
        waited: isJsonObject(summary) && isJsonObject(summary.svc) ? summary.svc.waited_ms : null,
      }));
    expect(await seen(redacted)).toEqual(await seen(plain));
  },
);

describe.each(names)('what %s says', (name) => {
  it('makes the same calls however it is split, and in whichever order it comes', async () => {
    const pieces = await toPieces(readAgentCapture(name));
    const whole = newProject();
    await sendAll(whole, pieces);
    const expected = await readCalls(whole);
    expect(expected.length).toBeGreaterThan(5);
    const splits = fc.tuple(
      fc.shuffledSubarray(pieces, { minLength: pieces.length }),
      fc.array(fc.integer({ min: 1, max: pieces.length }), { minLength: 2, maxLength: 6 }),
      fc.boolean(),
    );
    await fc.assert(
      fc.asyncProperty(splits, async ([shuffled, lengths, together]) => {
        const projectId = newProject();
        const requests: Piece[][] = [];
        for (let at = 0, i = 0; at < shuffled.length; i++) {
          const length = lengths[i % lengths.length] ?? 1;
          requests.push(shuffled.slice(at, at + length));
          at += length;
        }
        const send = (request: readonly Piece[]) => sendAll(projectId, request);
        if (together) await Promise.all(requests.map(send));
        else for (const request of requests) await send(request);
        expect(await readCalls(projectId)).toEqual(expected);
        // An export that is sent again changes nothing.
        await send(requests[0] ?? []);
        expect(await readCalls(projectId)).toEqual(expected);
      }),
      { numRuns: runs(6) },
    );
  });

  it('is gone once its calls are deleted', async () => {
    const projectId = newProject();
    await sendAll(projectId, await toPieces(readAgentCapture(name)));
    const ids = (await readCalls(projectId)).map(({ id }) => String(id));
    await deleteCalls(store, projectId, ids, budget());
    expect(await everythingStored(store, projectId)).toMatchObject({ items: 0, objects: 0 });
    expect(await readCalls(projectId)).toEqual([]);
  });
});

it('two halves of a session make the same calls, wherever one of them comes in between the other', async () => {
  const pieces = await toPieces(await readAgentCapture('claude-code-spans-and-logs'));
  const half = (remainder: number) => pieces.filter((_, i) => i % 2 === remainder);
  const whole = newProject();
  await sendAll(whole, pieces);
  const expected = await readCalls(whole);
  const kinds = await findKinds(store, (calls) => sendAll(newProject(), half(0), { ...stores, calls }));
  for (const at of sample([...kinds.keys()], 8, 'halves of a session')) {
    const projectId = newProject();
    await interleaved(
      store,
      at,
      (calls) => sendAll(projectId, half(0), { ...stores, calls }),
      () => sendAll(projectId, half(1)),
    );
    expect([at, await readCalls(projectId)]).toEqual([at, expected]);
  }
});

describe('a session of which only one half comes', () => {
  const readHalf = async (half: 'span' | 'record') => {
    const projectId = newProject();
    const pieces = await toPieces(readAgentCapture('claude-code-spans-and-logs'));
    await sendAll(
      projectId,
      pieces.filter((piece) => piece(projectId)[half] !== undefined),
    );
    return readCalls(projectId);
  };

  it('has all operations by its log records, below the turn', async () => {
    const calls = await readHalf('record');
    const kinds = Object.groupBy(calls, ({ attributes }) => String((attributes as JsonObject).kind));
    expect(
      Object.entries(kinds)
        .map(([kind, list]) => [kind, list?.length])
        .sort(),
    ).toEqual([
      ['agent', 2],
      ['model', 6],
      ['tool', 6],
    ]);
    const turn = calls.find(({ id, turn_id }) => id === turn_id);
    expect(calls.filter(({ turn_id }) => turn_id !== turn?.id)).toEqual([]);
    expect(turn).toMatchObject({ display_name: 'claude-code', parent_id: null });
  });

  it('has all operations by its spans, with the same ids', async () => {
    const spans = await readHalf('span');
    const records = await readHalf('record');
    expect(spans.map(({ op_name }) => op_name).sort()).toEqual(records.map(({ op_name }) => op_name).sort());
    const turns = [spans, records].map((calls) => calls.find(({ id, turn_id }) => id === turn_id)?.id);
    expect(turns[0]).toBe(turns[1]);
  });
});
