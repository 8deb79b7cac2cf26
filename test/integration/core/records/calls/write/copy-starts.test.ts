import { beforeAll, describe, expect, it } from 'vitest';
import { requestBudget, type Store } from '../../../../../../core/foundations/storage/index.ts';
import type { JsonObject, ProjectId } from '../../../../../../core/foundations/wire/index.ts';
import { deleteCalls, updateCall } from '../../../../../../core/records/calls/index.ts';
import { ask, createCallStore, endOf, read, send, startOf } from '../../../../../support/calls.ts';
import { kindsOf } from '../../../../../support/intercepted.ts';
import { everythingStored } from '../../../../../support/stored.ts';

/*
 * Calls whose starts lie in a segment with others, and which fail by an end of their own. The list
 * of errors shows them without reading that segment.
 */

let store: Store;
beforeAll(async () => {
  store = await createCallStore();
});

let projects = 0;
const newProject = () => `acme/copied-${projects++}` as ProjectId;

const errors = (from: Store, project_id: ProjectId): Promise<JsonObject[]> =>
  ask(from, {
    project_id,
    query: { $expr: { $eq: [{ $getField: 'summary.svc.status' }, { $literal: 'error' }] } },
  });

/** The calls that the list of errors has, and what was read for it. */
const listed = async (projectId: ProjectId) => {
  let calls: JsonObject[] = [];
  const commands = await kindsOf(store, async (watched) => {
    calls = await errors(watched, projectId);
  });
  return { calls, commands: [...new Set(commands)] };
};

const start = (project_id: ProjectId, id: string, fields: object = {}) =>
  startOf({ project_id, id, trace_id: 't', parent_id: 'p', inputs: { text: `input of ${id}` }, ...fields });
const failure = (project_id: ProjectId, id: string) =>
  endOf({ project_id, id, exception: `failure of ${id}`, output: null });

/** A failed call and its neighbours, whose starts came together, and the end by itself. */
const failed = async (fields: object = {}): Promise<ProjectId> => {
  const projectId = newProject();
  const others = Array.from({ length: 12 }, (_, i) => start(projectId, `other-${i}`));
  await send(store, [...others, start(projectId, 'failed', fields)]);
  await send(store, [failure(projectId, 'failed')]);
  return projectId;
};

/** Text that does not compress. */
const noise = Array.from({ length: 100 }, (_, i) => Math.sin(i)).join('');

describe('the list of errors', () => {
  it('shows a call that failed by an end of its own, from the index alone', async () => {
    const projectId = await failed();
    const { calls, commands } = await listed(projectId);
    expect(calls).toEqual([await read(store, 'failed', projectId)]);
    expect(calls).toMatchObject([{ inputs: { text: 'input of failed' }, exception: 'failure of failed' }]);
    expect(commands).toEqual(['QueryCommand']);
  });

  it('shows one whose start came alone, from the index alone', async () => {
    const projectId = newProject();
    await send(store, [start(projectId, 'failed')]);
    await send(store, [failure(projectId, 'failed')]);
    const { calls, commands } = await listed(projectId);
    expect(calls).toEqual([await read(store, 'failed', projectId)]);
    expect(commands).toEqual(['QueryCommand']);
  });

  it('reads the segment where a payload is large', async () => {
    const projectId = await failed({ inputs: { noise } });
    const { calls, commands } = await listed(projectId);
    expect(calls).toMatchObject([{ inputs: { noise } }]);
    expect(commands).toEqual(['QueryCommand', 'BatchGetItemCommand']);
  });

  it('shows what a later start says, and no copy of the former one', async () => {
    const projectId = await failed();
    await send(store, [start(projectId, 'failed', { inputs: { text: 'another' } })]);
    expect((await listed(projectId)).calls).toMatchObject([{ id: 'failed', inputs: { text: 'another' } }]);
  });

  it('keeps the copy when the call gets another name', async () => {
    const projectId = await failed();
    await updateCall(store, projectId, 'failed', { displayName: 'named' }, requestBudget(10_000));
    const { calls, commands } = await listed(projectId);
    expect(calls).toMatchObject([{ display_name: 'named', inputs: { text: 'input of failed' } }]);
    expect(commands).toEqual(['QueryCommand']);
  });

  it('has nothing left of a call that is deleted', async () => {
    const projectId = await failed();
    await deleteCalls(store, projectId, ['failed'], requestBudget(10_000));
    expect((await listed(projectId)).calls).toEqual([]);
    expect((await everythingStored(store, projectId)).text).not.toContain('of failed');
  });
});
