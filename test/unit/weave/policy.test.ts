import { describe, expect, it } from 'vitest';
import { ownPolicy } from '../../../foundations/policy.ts';
import { dialectOf, policyOf, weavePolicy } from '../../../weave/policy.ts';

it('the service’s own columns begin with its name, and Weave’s with that of Weights & Biases', () => {
  expect(ownPolicy).toMatchObject({ service: 'svc', refScheme: 'svc:///', otelProject: 'svc.project_id' });
  expect(ownPolicy.columns).toMatchObject({ ref: 'svc_ref', userId: 'svc_user_id' });
  expect(weavePolicy).toMatchObject({
    ...{ service: 'weave', refScheme: 'weave:///', otelProject: 'weave.project_id' },
    columns: {
      ref: 'weave_ref',
      userId: 'wb_user_id',
      runId: 'wb_run_id',
      runStep: 'wb_run_step',
      runStepEnd: 'wb_run_step_end',
    },
  });
});

it('an environment that names no dialect means the service’s own', () => {
  expect([undefined, '', 'svc', 'weave'].map(dialectOf)).toEqual(['svc', 'svc', 'svc', 'weave']);
  expect((['svc', 'weave'] as const).map(policyOf)).toEqual([ownPolicy, weavePolicy]);
});

describe('an op', () => {
  const custom = { weave_type: { type: 'Op' } };

  it('is what says so in its type, and for Weave’s SDKs a custom type as well', () => {
    const op = { _type: 'op', code: 'def f(): …' };
    expect([ownPolicy.isOp(op), weavePolicy.isOp(op)]).toEqual([true, true]);
    expect([ownPolicy.isOp(custom), weavePolicy.isOp(custom)]).toEqual([false, true]);
  });

  it.each([null, 'op', ['op'], {}, { _type: 'Op' }, { _type: ['op'] }, { type: 'op' }, { weave_type: 'Op' }])(
    'is not %j',
    (value) => expect([ownPolicy.isOp(value), weavePolicy.isOp(value)]).toEqual([false, false]),
  );
});
