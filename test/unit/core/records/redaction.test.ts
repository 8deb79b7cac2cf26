import { describe, expect, it } from 'vitest';
import { startReport } from '../../../../core/doors/report.ts';
import { updateCall, writeCalls } from '../../../../core/records/calls/index.ts';
import { createFeedback } from '../../../../core/records/feedback/index.ts';
import { createFile } from '../../../../core/records/files.ts';
import { createObject } from '../../../../core/records/objects/index.ts';
import { createTable } from '../../../../core/records/tables/index.ts';
import { ownPolicy } from '../../../../foundations/policy.ts';
import { Redactor } from '../../../../foundations/redaction/index.ts';
import { requestBudget, type Store } from '../../../../foundations/storage/index.ts';
import { type ProjectId, ServiceError } from '../../../../foundations/wire/index.ts';

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
    ...{ policy: ownPolicy, shards: [4], redactor },
  };
};

const report = startReport({
  ...{ projectId, id: 'c', opName: 'op', traceId: 't', parentId: null, threadId: null, turnId: null },
  ...{ startedAt: 0, attributes: {}, inputs: { text: secret } },
});
const draft = {
  ...{
    projectId,
    id: null,
    ref: 'svc:///acme/shop/call/c',
    type: 'note',
    creator: null,
    payload: { text: secret },
  },
  ...{ annotationRef: null, runnableRef: null, callRef: null, triggerRef: null },
};

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
