import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import * as calls from '../../../core/records/calls/items.ts';
import { segmentObject } from '../../../core/records/calls/payloads.ts';
import * as costs from '../../../core/records/costs/store.ts';
import * as feedback from '../../../core/records/feedback/items.ts';
import * as objects from '../../../core/records/objects/items.ts';
import { isId, type ProjectId, parseProjectId } from '../../../foundations/wire/index.ts';
import { type SharedService, sharedService } from '../../support/service/service.ts';

/**
 * Names that are prefixes, separators or escapes of each other, as far as projects may be called
 * so.
 */
const alike = [
  'a/b',
  'a/b.c',
  'a/b-',
  'a/b_',
  'a/bh',
  'a/b0',
  'a.b/c',
  'a/B',
  '-/-',
  '.../_',
  'a/..b',
  'a./b',
  'aa/b',
];

const part = fc.string({
  unit: fc.constantFrom('a', 'b', 'A', '0', '-', '_', '.'),
  minLength: 1,
  maxLength: 4,
});
const project: fc.Arbitrary<ProjectId> = fc
  .oneof(
    fc.constantFrom(...alike),
    fc.tuple(part, part).map(([entity, name]) => `${entity}/${name}`),
  )
  .map(parseProjectId)
  .filter((id) => id !== undefined);

const uuid = '01a0f4c2-c400-7128-b08d-6d80dcf805bb';
/** Ids that look like keys, separators or escapes. */
const nasty = [
  'c',
  '.cc',
  '-c',
  'a',
  'b',
  'a/b',
  'b/c',
  '#',
  '%',
  '%00',
  '\\0',
  '␀',
  '..',
  '../a/b',
  'S',
  'a#S',
  'é',
  'e\u0301',
  '😀',
  uuid,
  uuid.toUpperCase(),
  `${uuid}0`,
  `${'x'.repeat(255)}y`,
  `${'é'.repeat(255)}z`,
  `${'é'.repeat(255)}y`,
];
const id = fc.oneof(
  fc.constantFrom(...nasty),
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 8 }).filter(isId),
);

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

const placed = (projectId: ProjectId, name: string): calls.IndexedCall & { threadId: string } => ({
  projectId,
  id: name,
  startedAt: 0,
  traceId: name,
  parentId: null,
  threadId: name,
  turnId: null,
});
const digest = 'x'.repeat(43);
const terms = (model: string) => ({
  model,
  promptTokenCost: 1,
  completionTokenCost: 1,
  promptTokenCostUnit: 'USD',
  completionTokenCostUnit: 'USD',
  effectiveDate: 0,
  providerId: 'default',
});

/**
 * Every kind of key that is made of a project and a name: of items, of index partitions, of
 * objects.
 */
const kinds: Readonly<Record<string, (projectId: ProjectId, name: string) => string>> = {
  'a call': (projectId, name) => hex(calls.callKey(projectId, name)),
  'a trace': (projectId, name) => hex(calls.traceKeys(placed(projectId, name)).rk),
  'a call by time': (projectId, name) => {
    const { tk, ts } = calls.timeKeys(placed(projectId, name), 'S', 1);
    return `${hex(tk)} ${hex(ts)}`;
  },
  'a call in a thread': (projectId, name) => {
    const { hk, hs } = calls.threadKeys(placed(projectId, name), 'S', 1);
    return `${hex(hk)} ${hex(hs)}`;
  },
  'a record': (projectId, name) => hex(feedback.recordKey(projectId, name).k),
  'the payload of a record': (projectId, name) =>
    feedback.payloadObject({ projectId, id: name }, '0', undefined),
  'the records on a ref': (projectId, name) => hex(feedback.refRange(projectId, name, {}).partition[1]),
  'an object': (projectId, name) => {
    const { k, s } = objects.headKey({ projectId, objectId: name });
    return `${hex(k)} ${hex(s)}`;
  },
  'a version by its digest': (projectId, name) => {
    const { k, s } = objects.digestKey({ projectId, objectId: name }, digest);
    return `${hex(k)} ${hex(s)}`;
  },
  'the value of a version': (projectId, name) =>
    objects.valueObject({ projectId, objectId: name, versionIndex: 0, digest }),
  'a price': (projectId, name) => `${projectId} ${costs.priceId(projectId, terms(name))}`,
};

describe.each(Object.entries(kinds))('the key of %s', (_, getKey) => {
  it('differs for every name in every project that is named alike', () => {
    const keys = alike.flatMap((projectId) => nasty.map((name) => getKey(projectId as ProjectId, name)));
    expect(new Set(keys).size).toBe(alike.length * nasty.length);
  });

  it('belongs to one project and one name', () => {
    fc.assert(
      fc.property(project, id, project, id, (p, a, q, b) => {
        expect(getKey(p, a) === getKey(q, b)).toBe(p === q && a === b);
      }),
      { numRuns: 500 },
    );
  });
});

describe('a project’s data', () => {
  /** Of items and index partitions, as bytes. */
  const partitions = (projectId: ProjectId, name: string): Uint8Array[] => [
    calls.callKey(projectId, name),
    calls.segmentKey(projectId, '00ff'),
    ...Object.values(calls.traceKeys(placed(projectId, name))),
    calls.timeKeys(placed(projectId, name), 'S', 4).tk,
    calls.threadKeys(placed(projectId, name), 'S', 4).hk,
    feedback.recordKey(projectId, name).k,
    feedback.typeRange(projectId, 0, name, {}).partition[1],
    objects.headRange(projectId).partition[1],
    objects.digestKey({ projectId, objectId: name }, digest).k,
  ];

  it('has a key that starts with the project and a byte that no project has', () => {
    fc.assert(
      fc.property(project, id, (projectId, name) => {
        for (const key of partitions(projectId, name))
          expect(
            Buffer.from(key)
              .subarray(0, projectId.length + 1)
              .toString('latin1'),
          ).toBe(`${projectId}\0`);
      }),
    );
  });

  it('is in a folder of the bucket of its own', () => {
    fc.assert(
      fc.property(project, project, id, (p, q, name) => {
        const folders = (projectId: ProjectId) => [
          `segments/kept/${projectId}/`,
          `feedback/kept/${projectId}/`,
          `objects/${projectId}/`,
        ];
        const made = [
          segmentObject(p, '01ff'),
          feedback.payloadObject({ projectId: p, id: name }, '0', undefined),
          objects.valueObject({ projectId: p, objectId: name, versionIndex: 0, digest }),
        ];
        for (const [i, key] of made.entries()) {
          expect(key.startsWith(folders(q)[i] ?? '')).toBe(p === q);
          expect(key).toMatch(/^[\w./-]+$/);
          expect(key.split('/')).not.toContain('..');
        }
      }),
    );
  });
});

describe('projects that are named alike', () => {
  let service: SharedService;
  beforeAll(async () => {
    service = await sharedService();
  });

  const post = async (path: string, body: object): Promise<string> => {
    const answer = await service.post(path, body);
    const text = await answer.text();
    expect([path, answer.status, answer.status === 200 ? '' : text]).toEqual([path, 200, '']);
    return text;
  };
  const lines = (text: string): { id: string; project_id: string; inputs: { of: string } }[] =>
    text
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line));
  // A payload too large for an item lies in the bucket.
  const large = Array.from({ length: 40_000 }, (_, i) => Math.imul(i, 0x9e3779b1) >>> 0).join();

  it('each have their own calls, records and objects, whatever their names', async () => {
    for (const owner of alike) {
      const batch = nasty.map((name) => ({
        mode: 'start',
        req: {
          start: {
            project_id: owner,
            id: name,
            op_name: 'op',
            started_at: '2026-10-01T00:00:00Z',
            thread_id: name,
            inputs: { of: owner },
          },
        },
      }));
      await post('/call/upsert_batch', { batch });
      const svc_ref = `svc:///${owner}/call/c`;
      const records = nasty.map((name) => ({
        project_id: owner,
        id: name,
        svc_ref,
        feedback_type: 'note',
        payload: { of: owner },
      }));
      await post('/feedback/batch/create', { batch: records });
      await post('/obj/create', {
        obj: { project_id: owner, object_id: 'prompt', val: { of: owner, large } },
      });
    }
    for (const owner of alike) {
      const found = lines(await post('/calls/stream_query', { project_id: owner }));
      expect(new Set(found.map(({ id: name }) => name))).toEqual(new Set(nasty));
      expect(found).toHaveLength(nasty.length);
      expect(found.every(({ project_id, inputs }) => project_id === owner && inputs.of === owner)).toBe(true);
      const { result } = JSON.parse(
        await post('/feedback/query', { project_id: owner, fields: ['id', 'payload'] }),
      );
      expect(result).toHaveLength(nasty.length);
      expect(result.every(({ payload }: { payload: { of: string } }) => payload.of === owner)).toBe(true);
      const { obj } = JSON.parse(
        await post('/obj/read', { project_id: owner, object_id: 'prompt', digest: 'latest' }),
      );
      expect(obj.val.of).toBe(owner);
    }
  });

  it('lose nothing when another is emptied', async () => {
    const [gone = '', ...others] = alike;
    await post('/calls/delete', { project_id: gone, call_ids: nasty });
    await post('/obj/delete', { project_id: gone, object_id: 'prompt' });
    expect(lines(await post('/calls/stream_query', { project_id: gone }))).toEqual([]);
    for (const owner of others) {
      expect(lines(await post('/calls/stream_query', { project_id: owner }))).toHaveLength(nasty.length);
      await post('/obj/read', { project_id: owner, object_id: 'prompt', digest: 'latest' });
    }
  });
});
