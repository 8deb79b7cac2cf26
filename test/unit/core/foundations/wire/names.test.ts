import { expect, it } from 'vitest';
import { dialectOf, wireNames } from '../../../../../core/foundations/wire/index.ts';

it('the service’s own dialect has its name in all others', () => {
  expect(wireNames()).toMatchObject({
    dialect: 'svc',
    service: 'svc',
    ref: 'svc_ref',
    userId: 'svc_user_id',
  });
});

it('Weave’s dialect has the six names of Weights & Biases', () => {
  expect(wireNames('weave')).toEqual({
    dialect: 'weave',
    service: 'weave',
    refScheme: 'weave:///',
    ref: 'weave_ref',
    userId: 'wb_user_id',
    runId: 'wb_run_id',
    runStep: 'wb_run_step',
    runStepEnd: 'wb_run_step_end',
    userIds: 'wb_user_ids',
    runIds: 'wb_run_ids',
    otelProject: 'weave.project_id',
  });
});

it('an environment that names no dialect means the service’s own', () => {
  expect([undefined, '', 'svc', 'weave'].map(dialectOf)).toEqual(['svc', 'svc', 'svc', 'weave']);
});
