import { expect, it } from 'vitest';
import { dialectOf, serviceNameIn, wireNames } from '../../../../../core/foundations/wire/index.ts';

it('names are derived from the service’s, whatever it is', () => {
  expect(wireNames('weft')).toMatchObject({ dialect: 'svc', ref: 'weft_ref', userId: 'weft_user_id' });
});

it('Weave’s dialect has the six names of Weights & Biases', () => {
  expect(wireNames(serviceNameIn('weave', 'svc'), 'weave')).toEqual({
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
