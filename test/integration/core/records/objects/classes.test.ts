import { beforeAll, describe, expect, it } from 'vitest';
import {
  authorizeChange,
  createObject,
  deleteVersions,
  findVersions,
  readClass,
} from '../../../../../core/records/objects/index.ts';
import { requestBudget, type Store } from '../../../../../foundations/storage/index.ts';
import { type JsonObject, type JsonValue, ServiceError } from '../../../../../foundations/wire/index.ts';
import { intercepted } from '../../../../support/faults/intercepted.ts';
import { keyWith } from '../../../../support/service/keys.ts';
import { type SharedService, sharedService, throughWeave } from '../../../../support/service/service.ts';
import { errorRate, meanScore } from '../../../../support/values/alerts.ts';
import { project } from '../../../../support/values/calls.ts';
import { checking, politeness } from '../../../../support/values/evaluators.ts';
import { createObjectStore, readVersion } from '../../../../support/values/objects.ts';

let service: SharedService;
let writer: string;
beforeAll(async () => {
  service = await sharedService();
  writer = await keyWith(service, { scope: '*', role: 'write' });
});

const project_id = 'acme/classes';

interface Answer {
  readonly detail?: { loc: string[]; msg: string }[];
  readonly digest?: string;
}

const send = async (path: string, body: object, authorization?: string) => {
  const answer = await service.post(path, body, authorization ? { headers: { authorization } } : {});
  return {
    status: answer.status,
    body: (await answer.json()) as Answer,
  };
};
const create = (val: object, authorization?: string, object_id = 'e') =>
  send('/obj/create', { obj: { project_id, object_id, val } }, authorization);
const remove = (object_id: string, authorization?: string, digests?: readonly string[]) =>
  send('/obj/delete', { project_id, object_id, ...(digests && { digests }) }, authorization);

/** The places of an answer's problems, below the value. */
const places = async (val: object): Promise<string[]> => {
  const { status, body } = await create(val);
  expect(status, JSON.stringify(body)).toBe(422);
  return (body.detail ?? []).map(({ loc }) => {
    expect(loc.slice(0, 3)).toEqual(['body', 'obj', 'val']);
    return loc.slice(3).join('.');
  });
};

const judge = (fields: object) => politeness({ judge: { ...politeness().judge, ...fields } });

describe('an object of class Evaluator', () => {
  it('is taken as it should be', async () => {
    const query = { $expr: { $gt: [{ $getField: 'inputs.n' }, { $literal: 1 }] } };
    const full = politeness({
      filter: { op_names: ['chat'], svc_user_ids: ['ada'] },
      query,
      saved_at: '2026-10-01T00:00:00Z',
      judge: {
        model: 'm',
        messages: [
          { role: 'system', content: '{{ conversation }} {{inputs.a.b}} {{attributes.x}} {{expected}}' },
        ],
        answer: { type: 'label', labels: ['good', 'bad'] },
        parameters: { temperature: 0, max_completion_tokens: 100 },
      },
    });
    for (const val of [
      full,
      politeness(),
      checking({ contains: 'x' }),
      checking({ json_schema: { type: 'object' } }),
    ])
      expect(await create(val)).toMatchObject({ status: 200 });
  });

  it.each<[string, object, string[]]>([
    ['names no field that there is not', politeness({ extra: 1 }), ['extra']],
    ['has a judge or a check, not both', politeness({ check: { contains: 'x' } }), ['']],
    ['has a judge or a check', politeness({ judge: null }), ['']],
    ['says with a judge what it may cost', politeness({ max_usd_per_day: null }), ['max_usd_per_day']],
    ['samples a share', politeness({ sample_rate: 2 }), ['sample_rate']],
    ['has one check', checking({ contains: 'x', max_tool_calls: 1 }), ['check']],
    ['has a regular expression of RE2', checking({ regex: '(?=x)' }), ['check.regex']],
    [
      'has no pattern in a JSON Schema',
      checking({ json_schema: { items: { pattern: 'a+' } } }),
      ['check.json_schema.items.pattern'],
    ],
    [
      'has formats that there are',
      checking({ json_schema: { properties: { url: { format: 'iri' } } } }),
      ['check.json_schema.properties.url.format'],
    ],
    [
      'has a query of some length',
      politeness({
        query: { $expr: { $eq: [{ $getField: 'inputs.x' }, { $literal: 'x'.repeat(10_000) }] } },
      }),
      ['query'],
    ],
    ['has a good filter', politeness({ filter: { op_name: 'x' } }), ['filter.op_name']],
    [
      'has a good query',
      politeness({ query: { $expr: { $eq: [{ $getField: 'x' }, { $literal: 1 }] } } }),
      ['query.$expr.$eq.0.$getField'],
    ],
    [
      'has placeholders that there are',
      judge({ messages: [{ role: 'user', content: '{{input}}' }] }),
      ['judge.messages.0.content'],
    ],
    [
      'has placeholders that end, however many spaces there are',
      judge({ messages: [{ role: 'user', content: `{{${' '.repeat(19_000)}` }] }),
      ['judge.messages'],
    ],
    ['has something to judge', judge({ messages: [{ role: 'user', content: 'hi' }] }), ['judge.messages']],
    ['has labels', judge({ answer: { type: 'label', labels: ['one'] } }), ['judge.answer.labels']],
    ['sets nothing that costs more', judge({ parameters: { n: 3 } }), ['judge.parameters.n']],
  ])('%s', async (_, val, expected) => {
    expect(await places(val)).toEqual(expected);
  });

  it('with a judge takes the role admin to make and to delete', async () => {
    expect(await create(politeness(), writer, 'judged')).toMatchObject({
      status: 403,
      body: { detail: [{ msg: expect.stringContaining('takes the role admin') }] },
    });
    expect(await create(checking({ contains: 'first' }), writer, 'judged')).toMatchObject({ status: 200 });
    const judged = await create(politeness(), undefined, 'judged');
    expect(await remove('judged', writer)).toMatchObject({ status: 403 });
    expect(await remove('judged', writer, [judged.body.digest ?? ''])).toMatchObject({ status: 403 });
    expect(await remove('judged')).toMatchObject({ body: { num_deleted: 2 } });
  });

  it("is not what a user's own class of this name is", async () => {
    const own = {
      _type: 'Evaluator',
      _class_name: 'Evaluator',
      _bases: ['Object', 'BaseModel'],
      anything: 1,
    };
    expect(await create(own, writer, 'own')).toMatchObject({ status: 200 });
    expect(await remove('own', writer)).toMatchObject({ body: { num_deleted: 1 } });
  });
});

const spec = (field_schema: object, fields: object = {}) => ({
  _type: 'AnnotationSpec',
  name: 'Correct',
  field_schema,
  ...fields,
});
const queue = (fields: object = {}) => ({
  _type: 'ReviewQueue',
  name: 'Bad answers',
  fields: [`svc:///${project_id}/object/correct:v0`],
  ...fields,
});

describe('an object of class Alert', () => {
  const hasFeedback = { $expr: { $eq: [{ $getField: 'feedback.x' }, { $literal: 1 }] } };
  const metric = (fields: object) => errorRate({ metric: fields });

  it('is taken as it should be', async () => {
    const every = errorRate({
      metric: { metric: 'latency_ms', percentile: 95 },
      filter: { op_names: ['chat'] },
      query: { $expr: { $gt: [{ $getField: 'inputs.n' }, { $literal: 1 }] } },
      compare: 'week_before',
      no_data: 'keep',
      looks: 1,
      remind_minutes: 60,
      tell: [{ event_bus: true }, { webhook: 'ops', format: 'slack' }],
      saved_at: '2026-10-01T00:00:00Z',
    });
    for (const val of [errorRate(), every, meanScore('stars')])
      expect(await create(val)).toMatchObject({ status: 200 });
  });

  it.each<[string, object, string[]]>([
    ['measures one thing', metric({ aggregation: 'avg' }), ['metric']],
    ['makes one number of it', metric({ metric: 'latency_ms' }), ['metric']],
    [
      'says where feedback has its value',
      metric({ feedback_type: 'x', aggregation: 'avg' }),
      ['metric.path'],
    ],
    ['selects calls alone', meanScore('x', { filter: { op_names: ['x'] } }), ['filter']],
    ['does not ask calls for feedback', errorRate({ query: hasFeedback }), ['query']],
    ['has a window of 5 minutes at least', errorRate({ window_minutes: 4 }), ['window_minutes']],
    ['warns first', errorRate({ warn: 0.6 }), ['warn']],
    ['tells one target at a time', errorRate({ tell: [{ sns: true, webhook: 'ops' }] }), ['tell.0']],
    ['names webhooks', errorRate({ tell: [{ webhook: 'https://x' }] }), ['tell.0.webhook']],
  ])('%s', async (_, val, expected) => {
    expect(await places(val)).toEqual(expected);
  });

  it('takes the role admin to make and to delete', async () => {
    expect(await create(errorRate(), writer, 'errors')).toMatchObject({ status: 403 });
    expect(await create(errorRate(), undefined, 'errors')).toMatchObject({ status: 200 });
    expect(await remove('errors', writer)).toMatchObject({ status: 403 });
    expect(await remove('errors')).toMatchObject({ body: { num_deleted: 1 } });
  });
});

describe('a version that takes the role admin to make', () => {
  const limits = { _type: 'Limits', usd_per_day: 1 };
  const cases: readonly [string, object, string][] = [
    ['a judge', politeness(), 'guarded-judge'],
    ['an alert', errorRate(), 'guarded-alert'],
    ['limits', limits, 'limits'],
  ];
  const covers: readonly object[] = [
    { anything: 1 },
    checking({ contains: 'x' }),
    spec({ type: 'boolean' }),
    { _type: 'Alert ', enabled: false },
    { _type: 'Evaluator', _class_name: 'Evaluator', _bases: ['Object'] },
    { _type: 'op', _class_name: 'Limits' },
    {},
  ];

  it.each(cases)('takes it to be covered, or brought back: %s', async (_, val, id) => {
    const digest = ({ body }: Awaited<ReturnType<typeof create>>) => body.digest ?? '';
    const made = async (value: object, by?: string) => {
      const answer = await create(value, by, id);
      expect(answer, JSON.stringify(value)).toMatchObject({ status: 200 });
      return digest(answer);
    };
    await made(val);
    for (const cover of covers)
      expect(await create(cover, writer, id)).toMatchObject({
        status: 403,
        body: { detail: [{ msg: expect.stringContaining('takes the role admin to cover') }] },
      });
    // The same again makes nothing.
    const admins = await made({ by: 'admin' });
    expect(await made({ by: 'admin' }, writer)).toBe(admins);
    const first = await made({ by: 'writer' }, writer);
    const second = await made({ by: 'writer 2' }, writer);
    const back = {
      body: { detail: [{ msg: expect.stringContaining('takes the role admin to bring back') }] },
    };
    for (const versions of [
      [first, second, admins],
      [admins, second, first],
    ])
      expect(await remove(id, writer, versions)).toMatchObject({ status: 403, ...back });
    expect(await remove(id, writer, [first, admins])).toMatchObject({ body: { num_deleted: 2 } });
    expect(await remove(id, writer, [second])).toMatchObject({ status: 403, ...back });
    expect(await remove(id, writer)).toMatchObject({ status: 403 });
    expect(await remove(id, undefined, [second])).toMatchObject({ body: { num_deleted: 1 } });
    expect(await create({ by: 'writer' }, writer, id)).toMatchObject({ status: 403 });
    expect(await remove(id)).toMatchObject({ body: { num_deleted: 1 } });
    // Nothing of it is left.
    await made({ by: 'writer' }, writer);
    expect(await remove(id, writer)).toMatchObject({ body: { num_deleted: 1 } });
  });

  it('stays so if somebody makes or deletes versions in the middle of it', async () => {
    const store = await createObjectStore();
    const name = { projectId: project, objectId: 'raced' };
    const budget = requestBudget(60_000);
    const grants = [{ scope: '*', role: 'write' } as const];
    const make = (raced: Store, val: JsonObject) =>
      createObject(raced, { ...name, val }, 'bob', budget, {
        authorize: authorizeChange(raced, { grants }, project, budget),
      });
    const drop = (raced: Store, digest: string) =>
      deleteVersions(raced, name, [digest], budget, {
        authorize: authorizeChange(raced, { grants }, project, budget),
      });
    /** Does something, and something else just before it is written. */
    const raced = async (
      deed: (raced: Store) => Promise<unknown>,
      meanwhile: () => Promise<unknown>,
    ): Promise<unknown> => {
      let isOver = false;
      const through = intercepted(store, async (_, operation) => {
        if (isOver || operation !== 'TransactWriteItemsCommand') return;
        isOver = true;
        await meanwhile();
      });
      return deed(through).catch((error: unknown) => (error instanceof ServiceError ? error.status : error));
    };
    await createObject(store, { ...name, val: { first: 1 } }, 'ada', budget);
    const judge = () => createObject(store, { ...name, val: politeness() }, 'ada', budget);
    expect(await raced((through) => make(through, { cover: 1 }), judge)).toBe(403);
    const cover = await createObject(store, { ...name, val: { cover: 'admin' } }, 'ada', budget);
    const last = await make(store, { cover: 'writer' });
    const uncovering = () => deleteVersions(store, name, [cover], budget);
    expect(await raced((through) => drop(through, last), uncovering)).toBe(403);
    expect((await readVersion(store, name.objectId, 'latest'))?.digest).toBe(last);
  });
});

describe('objects of reviews', () => {
  it('are taken as they should be', async () => {
    const thumbs = {
      $contains: { input: { $getField: 'summary.svc.feedback' }, substr: { $literal: 'up' } },
    };
    for (const val of [
      spec({ type: 'boolean' }, { description: 'Is it true?', op_scope: ['chat'], saved_at: '2026-10-01' }),
      spec({ type: 'integer', minimum: 1, maximum: 5 }),
      spec({ type: 'string', enum: ['good', 'bad'] }),
      spec({ type: 'string', maxLength: 200 }),
      queue({ reviews: 2, assignees: ['ada'], filter: { trace_roots_only: true }, query: { $expr: thumbs } }),
      queue(),
    ])
      expect(await create(val, writer, 'reviews')).toMatchObject({ status: 200 });
  });

  it.each<[string, object, string[]]>([
    ['ask for a kind of value that there is', spec({ type: 'object' }), ['field_schema.type']],
    ['have several labels', spec({ type: 'string', enum: ['a', 'a'] }), ['field_schema.enum']],
    ['have labels of texts alone', spec({ type: 'number', enum: ['a', 'b'] }), ['field_schema.enum']],
    ['have bounds of numbers alone', spec({ type: 'boolean', minimum: 1 }), ['field_schema.minimum']],
    [
      'have bounds in their order',
      spec({ type: 'number', minimum: 2, maximum: 1 }),
      ['field_schema.maximum'],
    ],
    ['have something to fill in', queue({ fields: [] }), ['fields']],
    ['name what is filled in by refs', queue({ fields: ['correct'] }), ['fields.0']],
    ['are reviewed by somebody', queue({ reviews: 0 }), ['reviews']],
    ['have a good filter', queue({ filter: { op_name: 'x' } }), ['filter.op_name']],
  ])('%s', async (_, val, expected) => {
    expect(await places(val)).toEqual(expected);
  });
});

describe("by Weave's door", () => {
  it('a queue has refs as Weave writes them, and a spec may be of any of Weave’s schemas', async () => {
    const made = async (val: object) =>
      (await throughWeave(service).post('/obj/create', { obj: { project_id, object_id: 'q', val } })).status;
    expect(await made(queue({ fields: [`weave:///${project_id}/object/correct:v0`] }))).toBe(200);
    expect(await made(queue())).toBe(200);
    const own = { ...spec({ anyOf: [] }), _class_name: 'AnnotationSpec', _bases: ['Object', 'BaseModel'] };
    expect(await made(own)).toBe(200);
  });

  it('an evaluator has our names, since values are not translated', async () => {
    const made = async (val: object) =>
      (await throughWeave(service).post('/obj/create', { obj: { project_id, object_id: 'e', val } })).status;
    expect(await made(politeness({ filter: { svc_user_ids: ['ada'] } }))).toBe(200);
    expect(await made(politeness({ filter: { wb_user_ids: ['ada'] } }))).toBe(422);
    const feedback = { $getField: 'feedback.[wandb.reaction.1].payload.emoji' };
    expect(await made(politeness({ query: { $expr: { $eq: [feedback, { $literal: 'x' }] } } }))).toBe(422);
  });

  it('no name of a version brings back what took the role admin', async () => {
    const weave = throughWeave(service);
    const authorization = await keyWith(weave, { scope: '*', role: 'write' });
    const object_id = 'renamed';
    const post = async (path: string, body: object, headers: Record<string, string> = {}) =>
      (await weave.post(path, { project_id, object_id, ...body }, { headers })).status;
    const make = (val: object, headers?: Record<string, string>) =>
      post('/obj/create', { obj: { project_id, object_id, val } }, headers);
    const vals = [politeness(), { by: 'admin' }, { by: 'admin 2' }];
    for (const val of vals) expect(await make(val)).toBe(200);
    const aliases = { digest: 'v1', aliases: ['first'] };
    const put = await fetch(`${weave.url}/objs/${object_id}/aliases`, {
      method: 'PUT',
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify({ project_id, ...aliases }),
    });
    expect(put.status).toBe(200);
    for (const digests of [
      ['latest', 'first'],
      ['v2', 'v1'],
      ['first', 'v2'],
    ])
      expect(await post('/obj/delete', { digests }, { authorization })).toBe(403);
    expect(await post('/obj/delete', { digests: ['latest'] }, { authorization })).toBe(200);
    expect(await post('/obj/delete', { digests: ['latest'] }, { authorization })).toBe(403);
    expect(await make(politeness(), { authorization })).toBe(403);
  });
});

describe('the objects of a class', () => {
  let store: Store;
  beforeAll(async () => {
    store = await createObjectStore();
  });
  const budget = () => requestBudget(60_000);
  const make = (objectId: string, val: JsonValue) =>
    createObject(store, { projectId: project, objectId, val }, 'ada', budget());
  const found = async (objectIds: readonly string[] | null = null, meter = budget()) =>
    (await readClass(store, project, 'Evaluator', objectIds, meter)).map(
      ({ header, value }) => `${header.objectId} ${value.name}`,
    );
  const check = (name: string) => checking({ contains: 'x' }, { name }) as JsonObject;

  it('are those whose latest version is of it, whatever was made and deleted', async () => {
    await make('b', check('one'));
    await make('a', check('two'));
    await make('c', { _type: 'Evaluator', _class_name: null });
    await make('d', { _type: 'Evaluator', _bases: ['Evaluator'] });
    expect(await found()).toEqual(['a two', 'b one']);
    const newer = await make('b', check('three'));
    expect(await found()).toEqual(['a two', 'b three']);
    expect(await found(['b', 'c', 'gone'])).toEqual(['b three']);
    await make('b', { anything: 1 });
    expect(await found()).toEqual(['a two']);
    const alert = await make('b', errorRate());
    expect(await found()).toEqual(['a two']);
    expect(await readClass(store, project, 'Alert', null, budget())).toHaveLength(1);
    // Another version is brought back, of another class.
    const name = { projectId: project, objectId: 'b' };
    await deleteVersions(store, name, [alert], budget());
    expect(await readClass(store, project, 'Alert', null, budget())).toEqual([]);
    await deleteVersions(store, { ...name, objectId: 'a' }, null, budget());
    expect(await found()).toEqual([]);
    const [first] = await findVersions(store, [{ ...name, version: 'latest' }], budget());
    await deleteVersions(store, name, [first?.header.digest ?? ''], budget());
    expect(await found()).toEqual(['b three']);
    await deleteVersions(store, name, [newer], budget());
    expect(await found()).toEqual(['b one']);
    await deleteVersions(store, name, null, budget());
    expect(await found()).toEqual([]);
  });

  it('are found without a look at others, however many there are', async () => {
    await make('one', check('one'));
    const read = async () => {
      const spent = budget();
      expect(await found(null, spent)).toEqual(['one one']);
      return spent.meter.readUnits;
    };
    const before = await read();
    await Promise.all(Array.from({ length: 100 }, (_, i) => make(`other-${i}`, { i })));
    expect(await read()).toBe(before);
    await deleteVersions(store, { projectId: project, objectId: 'one' }, null, budget());
  });

  it('are as many as a project may have, and one is replaced even then', async () => {
    for (let i = 0; i < 100; i++) await make(`e${i}`, check(`${i}`));
    await make('e7', check('again'));
    await make('other', { anything: 1 });
    await make('foreign', { _type: 'Evaluator', _class_name: 'Evaluator' });
    const message = 'is one more object of class Evaluator than the 100 that a project may have';
    await expect(make('e100', check('100'))).rejects.toThrow(message);
    await expect(make('other', check('100'))).rejects.toThrow(message);
    await deleteVersions(store, { projectId: project, objectId: 'e0' }, null, budget());
    await make('e100', check('100'));
    expect(await found()).toHaveLength(100);
  });
});
