import { describe, expect, it } from 'vitest';
import { writeCalls } from '../../../../../core/records/calls/index.ts';
import { isInErrors, readStartEntries } from '../../../../../core/records/calls/items.ts';
import { requestBudget, type Store, scanTable } from '../../../../../foundations/storage/index.ts';
import type { ProjectId } from '../../../../../foundations/wire/index.ts';
import { interleaved } from '../../../../support/faults/intercepted.ts';
import { createCallStore, makeEnd, makeStart, parseBatch, read } from '../../../../support/values/calls.ts';

/*
 * A request that only adds, and another that reports the same call meanwhile. Over HTTP,
 * test/integration/security/report.test.ts has what can be done one after the other.
 */

const store = await createCallStore();
let projects = 0;
const newProject = () => `acme/adding-${projects++}` as ProjectId;

const reported = (project_id: ProjectId, op_name: string, output?: string) => [
  makeStart({ project_id, id: 'c', op_name, trace_id: op_name, inputs: { op_name } }),
  ...(output === undefined ? [] : [makeEnd({ project_id, id: 'c', output })]),
];

const budget = () => requestBudget(30_000);

describe('a request that only adds', () => {
  it.each([
    ['a call', 'ours'],
    ['a start', undefined],
  ])('leaves %s alone that is reported while it runs', async (_, output) => {
    const control = newProject();
    await writeCalls(store, parseBatch(reported(control, 'answer', output)), 'ada', budget());
    const expected = { ...(await read(store, 'c', control)), project_id: expect.any(String) };
    for (let at = 0, isStopped = true; isStopped; at++) {
      const project = newProject();
      isStopped = await interleaved(
        store,
        at,
        (stopped) =>
          writeCalls(stopped, parseBatch(reported(project, 'evil', output && 'evil')), 'page', budget(), {
            addsOnly: true,
          }),
        () => writeCalls(store, parseBatch(reported(project, 'answer', output)), 'ada', budget()),
      );
      expect(await read(store, 'c', project), `stopped before command ${at}`).toEqual(expected);
    }
  });

  const start = (project_id: ProjectId) =>
    makeStart({ project_id, id: 'c', op_name: 'answer', trace_id: 't' });
  const goodEnd = (project_id: ProjectId) => makeEnd({ project_id, id: 'c', output: 'good' });
  const badEnd = (project_id: ProjectId) => makeEnd({ project_id, id: 'c', exception: 'evil' });
  const addBadEnd = (to: Store, project_id: ProjectId) =>
    writeCalls(to, parseBatch([badEnd(project_id)]), 'page', budget(), { addsOnly: true });
  /** The items of the call, and of payloads and marks, without their expiry. */
  const itemsOf = async (project_id: ProjectId) => {
    const items: unknown[] = [];
    for await (const page of scanTable(store.table))
      for (const { x: _, ...item } of page)
        if (
          Buffer.from(item.k as Uint8Array)
            .toString('latin1')
            .startsWith(`${project_id}\0`)
        )
          items.push(item);
    return items;
  };

  it.each([
    ['a started call', true],
    ['a call that is not known yet', false],
  ])('writes nothing for an end of %s that has one by itself', async (_, isStarted) => {
    const project_id = newProject();
    if (isStarted) await writeCalls(store, parseBatch([start(project_id)]), 'page', budget());
    await writeCalls(store, parseBatch([goodEnd(project_id)]), 'page', budget());
    const before = await itemsOf(project_id);
    expect(before.length).toBeGreaterThan(0);
    await addBadEnd(store, project_id);
    expect(await itemsOf(project_id)).toEqual(before);
  });

  it('puts no call on the list of errors whose end was stored while it ran', async () => {
    for (let at = 0, isStopped = true; isStopped; at++) {
      const project_id = newProject();
      await writeCalls(store, parseBatch([start(project_id)]), 'page', budget());
      let isAdded = false;
      isStopped = await interleaved(
        store,
        at,
        (stopped) => addBadEnd(stopped, project_id),
        async () => {
          isAdded = (await read(store, 'c', project_id))?.exception === 'evil';
          await writeCalls(store, parseBatch([goodEnd(project_id)]), 'page', budget());
        },
      );
      // The key of an end that was stored stays when another end replaces it.
      if (isAdded) continue;
      const [entry] = await readStartEntries(store, [{ projectId: project_id, id: 'c' }], budget());
      expect(entry && isInErrors(entry.item), `stopped before command ${at}`).toBe(false);
    }
  });
});
