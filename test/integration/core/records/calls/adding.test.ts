import { describe, expect, it } from 'vitest';
import { writeCalls } from '../../../../../core/records/calls/index.ts';
import { requestBudget } from '../../../../../foundations/storage/index.ts';
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
});
