import { beforeAll, describe, expect, it } from 'vitest';
import { ownDigests } from '../../../../foundations/door.ts';
import type { JsonValue } from '../../../../foundations/wire/index.ts';
import { type SharedService, sharedService } from '../../../support/service/service.ts';
import { bigValue } from '../../../support/values/objects.ts';

let service: SharedService;
beforeAll(async () => {
  service = await sharedService();
});

const project_id = 'acme/objects';

/** POSTs, and gives status and parsed body. */
const call = async (path: string, body: unknown, authorization?: string) => {
  const answer = await service.post(path, body, authorization ? { headers: { authorization } } : {});
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
};

const create = async (object_id: string, val: JsonValue, project = project_id): Promise<string> => {
  const { status, body } = await call('/obj/create', { obj: { project_id: project, object_id, val } });
  expect(status).toBe(200);
  expect(body).toEqual({ digest: ownDigests.ofValue(val), object_id });
  return String(body.digest);
};

const read = (object_id: string, digest: string) => call('/obj/read', { project_id, object_id, digest });

describe('an object', () => {
  it('is made, read by digest, number and latest, and deleted', async () => {
    const digest = await create('prompt', { text: 'Hello 日本' });
    const obj = {
      project_id,
      object_id: 'prompt',
      digest,
      version_index: 0,
      is_latest: 1,
      kind: 'object',
      base_object_class: null,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/),
      svc_user_id: 'local',
      val: { text: 'Hello 日本' },
    };
    for (const version of [digest, 'v0', 'latest']) {
      expect(await read('prompt', version)).toEqual({ status: 200, body: { obj } });
    }
    const second = await create('prompt', { _type: 'op', _class_name: 'Greeter' });
    expect((await read('prompt', 'v0')).body).toMatchObject({ obj: { is_latest: 0 } });
    expect((await read('prompt', 'latest')).body).toMatchObject({
      obj: { digest: second, version_index: 1, kind: 'op', base_object_class: 'Greeter' },
    });
    const deletion = { project_id, object_id: 'prompt', digests: [second] };
    expect(await call('/obj/delete', deletion)).toEqual({ status: 200, body: { num_deleted: 1 } });
    expect(await call('/obj/delete', deletion)).toEqual({ status: 200, body: { num_deleted: 0 } });
    expect((await read('prompt', 'latest')).body).toMatchObject({ obj: { digest, is_latest: 1 } });
    expect(await call('/obj/delete', { project_id, object_id: 'prompt' })).toMatchObject({
      body: { num_deleted: 1 },
    });
    expect((await read('prompt', digest)).status).toBe(404);
  });

  it('has the user of the key, whoever it names', async () => {
    const obj = { project_id, object_id: 'signed', val: 1, svc_user_id: 'mallory' };
    expect((await call('/obj/create', { obj })).status).toBe(200);
    expect((await read('signed', 'latest')).body).toMatchObject({ obj: { svc_user_id: 'local' } });
  });

  it('may have a value of 5 MB, also by ref', async () => {
    const val = [bigValue(3500), null];
    const digest = await create('large', val);
    expect((await read('large', digest)).body).toMatchObject({ obj: { val } });
    const refs = [1, 2].map(() => `svc:///${project_id}/object/large:${digest}`);
    expect((await call('/refs/read_batch', { refs })).body).toEqual({ vals: [val, val] });
  });

  it('is a 404 that says what is missing if it does not exist', async () => {
    await create('lonely', 1);
    expect(await read('lonely', 'v7')).toEqual({
      status: 404,
      body: {
        detail: [
          {
            loc: ['body', 'digest'],
            msg: 'there is no version "v7" of "lonely" in acme/objects',
            type: 'not_found',
          },
        ],
      },
    });
    expect((await read('lonely', 'no digest')).status).toBe(404);
    expect(await read('nobody', 'latest')).toMatchObject({
      status: 404,
      body: { detail: [{ loc: ['body', 'object_id'] }] },
    });
  });
});

describe('a query', () => {
  const project = 'acme/listed';
  beforeAll(async () => {
    for (const val of [1, 2, 3]) await create('numbers', val, project);
    await create('op', { _type: 'op' }, project);
  });
  const query = (body: object) => call('/objs/query', { project_id: project, ...body });

  it('is answered as one JSON object', async () => {
    const { status, body } = await query({});
    expect(status).toBe(200);
    expect(body).toMatchObject({
      objs: [{ val: 1 }, { val: 2 }, { val: 3, is_latest: 1 }, { object_id: 'op', kind: 'op' }],
    });
    expect((await query({ filter: { object_ids: ['numbers'], latest_only: true } })).body).toMatchObject({
      objs: [{ version_index: 2 }],
    });
    expect((await query({ filter: { is_op: true, base_object_classes: null } })).body).toMatchObject({
      objs: [{ object_id: 'op' }],
    });
    expect(await query({ filter: { object_ids: ['a/b'] } })).toEqual({ status: 200, body: { objs: [] } });
  });

  it('has the requested order, slice and no values if requested', async () => {
    const sort_by = [{ field: 'created_at', direction: 'desc' }];
    const { body } = await query({ sort_by, offset: 1, limit: 2, metadata_only: true });
    expect(body).toMatchObject({
      objs: [
        { version_index: 2, val: null },
        { version_index: 1, val: null },
      ],
    });
  });
});

describe('refs', () => {
  it('are answered in order, with null for dangling ones', async () => {
    const digest = await create('config', { model: { 'a/b': ['x'] } });
    const ref = (path = '') => `svc:///${project_id}/object/config:${digest}${path}`;
    const refs = [
      ref('/attr/model/key/a%2Fb/index/0'),
      ref('/attr/none'),
      ref().replace(digest, 'gone'),
      ref(),
    ];
    expect(await call('/refs/read_batch', { refs })).toEqual({
      status: 200,
      body: { vals: ['x', null, null, { model: { 'a/b': ['x'] } }] },
    });
    expect((await call('/refs/read_batch', { refs: [] })).body).toEqual({ vals: [] });
  });
});

describe('an error', () => {
  const object = (fields: object) => ({ obj: { project_id, object_id: 'x', val: 1, ...fields } });
  const digest = 'x'.repeat(43);

  it.each<[string, string, unknown, string[], string]>([
    ['no value', '/obj/create', { obj: { project_id, object_id: 'x' } }, ['obj', 'val'], 'missing'],
    ['a bad id', '/obj/create', object({ object_id: 'a/b' }), ['obj', 'object_id'], 'value_error'],
    ['an unknown field', '/obj/create', object({ digest }), ['obj', 'digest'], 'extra_forbidden'],
    ['a bad project', '/obj/create', object({ project_id: 'acme' }), ['obj', 'project_id'], 'value_error'],
    ['no version', '/obj/read', { project_id, object_id: 'x' }, ['digest'], 'missing'],
    [
      'latest',
      '/obj/delete',
      { project_id, object_id: 'x', digests: [digest, 'latest'] },
      ['digests', '1'],
      'value_error',
    ],
    [
      'an unknown order',
      '/objs/query',
      { project_id, sort_by: [{ field: 'size', direction: 'asc' }] },
      ['sort_by', '0', 'field'],
      'literal_error',
    ],
    [
      'an unknown filter',
      '/objs/query',
      { project_id, filter: { names: [] } },
      ['filter', 'names'],
      'extra_forbidden',
    ],
    ['a limit below 0', '/objs/query', { project_id, limit: -1 }, ['limit'], 'greater_than_equal'],
    ['no ref', '/refs/read_batch', { refs: ['x'] }, ['refs', '0'], 'value_error'],
    [
      'a call ref',
      '/refs/read_batch',
      { refs: [`svc:///acme/objects/object/x:${digest}`, 'svc:///acme/objects/call/1'] },
      ['refs', '1'],
      'value_error',
    ],
    [
      'too many refs',
      '/refs/read_batch',
      { refs: Array.from({ length: 1001 }, () => `svc:///acme/objects/object/x:${digest}`) },
      ['refs'],
      'too_long',
    ],
  ])('for %s names the place', async (_name, path, body, loc, type) => {
    const answer = await call(path, body);
    expect(answer).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ['body', ...loc], msg: expect.any(String), type }] },
    });
  });

  it('for an unknown order lists the known ones', async () => {
    const { body } = await call('/objs/query', {
      project_id,
      sort_by: [{ field: 'size', direction: 'asc' }],
    });
    expect(body).toMatchObject({
      detail: [{ msg: 'should be one of "object_id", "version_index", "created_at"' }],
    });
  });
});
