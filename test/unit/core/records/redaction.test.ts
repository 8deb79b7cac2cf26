import { describe, expect, it } from 'vitest';
import { startReport } from '../../../../core/doors/report.ts';
import { updateCall, writeCalls } from '../../../../core/records/calls/index.ts';
import { createFeedback } from '../../../../core/records/feedback/index.ts';
import { createFile } from '../../../../core/records/files.ts';
import { createObject } from '../../../../core/records/objects/index.ts';
import { redactLogRecords } from '../../../../core/records/redaction.ts';
import { createTable } from '../../../../core/records/tables/index.ts';
import { builtins, Redactor } from '../../../../foundations/redaction/index.ts';
import { requestBudget, type Store } from '../../../../foundations/storage/index.ts';
import {
  type JsonObject,
  type JsonValue,
  type ProjectId,
  ServiceError,
} from '../../../../foundations/wire/index.ts';

const projectId = 'acme/shop' as ProjectId;
const secret = 'ada@example.com';

/** A rule that cannot be applied, whose error quotes the text. */
const failing = new Redactor([{ name: 'x', pattern: 'x', action: 'label' }], undefined, () => (text) => {
  throw new Error(`no: ${text}`);
});

/** A store that nothing may be asked of. */
const untouched = (redactor: () => Promise<Redactor>): Store => {
  const asked = (): never => {
    throw new Error('the store was asked');
  };
  return {
    get table() {
      return asked();
    },
    get bucket() {
      return asked();
    },
    shards: [4],
    redactor,
  };
};

const makeReport = (inputs: JsonObject) =>
  startReport({
    projectId,
    id: 'c',
    opName: 'op',
    traceId: 't',
    parentId: null,
    threadId: null,
    turnId: null,
    startedAt: 0,
    attributes: {},
    inputs,
  });
const report = makeReport({ text: secret });
const draft = {
  projectId,
  id: null,
  ref: 'svc:///acme/shop/call/c',
  type: 'note',
  creator: null,
  payload: { text: secret },
  annotationRef: null,
  runnableRef: null,
  callRef: null,
  triggerRef: null,
};

it('what waits for others keeps what they meet by, whatever numbers a rule takes', async () => {
  const rule = { name: 'n', pattern: 'said|[0-9]+', action: 'label' } as const;
  const finds = (text: string) => (/^(?:said|\d+)$/.test(text) ? [[0, text.length] as const] : []);
  const numbers = new Redactor([rule], 'key', () => finds);
  const placing = { time: '01790000000000000000', trace: 'a1', span: 'b2' };
  const event = { name: 'x', time: 1_790_000_000_000_000, attributes: { note: 'said' } };
  const record = { ...placing, attributes: { note: 'said', count: 5 }, events: [event] };
  const [left] = await redactLogRecords({ redactor: async () => numbers }, [{ record }]);
  const label = '[n]';
  expect(left?.record).toEqual({
    ...placing,
    attributes: { note: label, count: label },
    events: [{ ...event, attributes: { note: label } }],
  });
});

const doors: readonly (readonly [name: string, write: (store: Store) => Promise<unknown>])[] = [
  ['calls', (store) => writeCalls(store, [report], 'ada', requestBudget(1000))],
  ['a name', (store) => updateCall(store, projectId, 'c', { displayName: secret }, requestBudget(1000))],
  ['feedback', (store) => createFeedback(store, [{ draft, loc: [] }], 'ada', requestBudget(1000))],
  [
    'an object',
    (store) => createObject(store, { projectId, objectId: 'o', val: secret }, 'ada', requestBudget(1000)),
  ],
  ['a table', (store) => createTable(store, projectId, [{ text: secret }], null, requestBudget(1000))],
  ['a file', (store) => createFile(store, projectId, Buffer.from(secret), null, requestBudget(1000))],
];

describe.each(doors)('a rule that fails for %s', (_, write) => {
  it('refuses the request before the store is asked for anything, and repeats no value', async () => {
    const error = await write(untouched(async () => failing)).catch((thrown: unknown) => thrown);
    if (!(error instanceof ServiceError)) throw error;
    expect([error.status, error.message]).toEqual([
      500,
      expect.stringMatching(/^redaction failed at .*: Error; nothing/),
    ]);
    expect(`${error.message} ${error.stack} ${error.cause}`).not.toContain(secret);
  });

  it('refuses it as well if the rules cannot be loaded', async () => {
    const broken = untouched(() => Promise.reject(new Error('no rules')));
    await expect(write(broken)).rejects.toThrow('no rules');
  });
});

/** Everything that each rule finds is dropped. */
const dropping = (...paths: string[]) =>
  new Redactor(
    [
      ...builtins.map((builtin) => ({ name: builtin, builtin, action: 'drop' as const })),
      ...paths.map((path, i) => ({ name: `path-${i}`, paths: [path], action: 'drop' as const })),
    ],
    'key',
  );

const catchProblem = async (work: Promise<unknown>): Promise<unknown> => {
  const error = await work.then(
    () => 'nothing was refused',
    (thrown: unknown) => thrown,
  );
  return error instanceof ServiceError ? [error.status, error.detail[0]?.loc.join('.')] : error;
};

describe('an object that redaction would change', () => {
  const privateKey = '-----BEGIN PRIVATE KEY-----x';
  const evaluator = {
    _type: 'Evaluator',
    name: 'brief',
    filter: { op_names: ['chat'] },
    on: 'call',
    sample_rate: 1,
    check: { contains: 'yes' },
    enabled: true,
  };
  const create = (val: JsonValue, redactor = dropping()) =>
    createObject(
      untouched(async () => redactor),
      { projectId, objectId: 'o', val },
      'ada',
      requestBudget(1000),
    );

  it.each([
    ['its type', { ...evaluator, _type: `Evaluator${privateKey}` }, 'body.obj.val._type'],
    ['a base', { _bases: [`Limits${privateKey}`], _type: 'x' }, 'body.obj.val._bases.0'],
    ['its class', { _class_name: `Alert${privateKey}` }, 'body.obj.val._class_name'],
    [
      'a filter',
      { ...evaluator, filter: { op_names: ['chat ada@example.com'] } },
      'body.obj.val.filter.op_names.0',
    ],
    [
      'what is looked for',
      { ...evaluator, check: { contains: 'ada@example.com' } },
      'body.obj.val.check.contains',
    ],
    ['the name of a field', { ...evaluator, [`judge${privateKey}`]: {} }, 'body.obj.val'],
    ['a limit', { _type: 'Limits', usd_per_day: 4111111111111111 }, 'body.obj.val.usd_per_day'],
  ])('is refused with its place if it has a class that counts and a secret in %s', async (_, val, place) => {
    expect(await catchProblem(create(val))).toEqual([422, place]);
  });

  it('is refused where a path takes a part of its filter, which would then match more', async () => {
    expect(await catchProblem(create(evaluator, dropping('val.filter.op_names')))).toEqual([
      422,
      'body.obj.val.filter',
    ]);
    expect(await catchProblem(create(evaluator, dropping('val.*.*')))).toEqual([422, 'body.obj.val.filter']);
  });

  it('is given to who admits it as it is stored, before the store is asked for anything', async () => {
    const admitted: unknown[] = [];
    const refuse = async (stored: unknown): Promise<void> => {
      admitted.push(stored);
      throw new Error('not admitted');
    };
    const val = { note: 'to ada@example.com', [`_type${privateKey}`]: 'Evaluator' };
    await expect(
      createObject(
        untouched(async () => dropping()),
        { projectId, objectId: 'o', val },
        'ada',
        requestBudget(1000),
        { admit: refuse },
      ),
    ).rejects.toThrow('not admitted');
    expect(admitted).toEqual([
      { projectId, objectId: 'o', val: { note: 'to ', '_type[private_key]': 'Evaluator' } },
    ]);
  });
});

it('an answer that a rule takes the value of is refused', async () => {
  const answer = {
    ...draft,
    type: 'annotation.tone',
    annotationRef: 'svc:///acme/shop/object/tone:latest',
    payload: { value: 'polite' },
  };
  const create = (redactor: Redactor) =>
    createFeedback(
      untouched(async () => redactor),
      [{ draft: answer, loc: [] }],
      'ada',
      requestBudget(1000),
    );
  expect(await catchProblem(create(dropping('payload.value')))).toEqual([422, 'body.payload']);
  // Without a rule for it the store is asked.
  await expect(create(dropping('payload.other'))).rejects.toThrow('the store was asked');
});

it('a rule that fails for one item of a batch names its place', async () => {
  const picky = new Redactor([{ name: 'x', pattern: 'x', action: 'label' }], undefined, () => (text) => {
    if (text === secret) throw new Error(text);
    return [];
  });
  const store = untouched(async () => picky);
  const options = { getPlace: (i: number) => ['batch', String(i), 'req', 'start'] };
  await expect(
    writeCalls(store, [makeReport({}), report], 'ada', requestBudget(1000), options),
  ).rejects.toThrow(/^redaction failed at batch\.1\.req\.start\.inputs: Error; nothing/);
  const creation = { draft, loc: ['batch', '3'] };
  await expect(createFeedback(store, [creation], 'ada', requestBudget(1000))).rejects.toThrow(
    /^redaction failed at batch\.3\.payload: Error; nothing/,
  );
});
