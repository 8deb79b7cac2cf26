import { describe, expect, it } from 'vitest';
import { fromWire, pathToWire } from '../../../../web/api/calls.ts';
import { fieldOf } from '../../../../web/views/overview/requests.ts';

const call = { id: 'c', project_id: 'acme/shop', op_name: 'op', trace_id: 't', started_at: '2026-10-01' };

describe.each([
  ['penny', 'penny'],
  ['weave', 'wb'],
])('the records of a service called %s', (service, prefix) => {
  const record = {
    ...call,
    [`${prefix}_user_id`]: 'ada',
    [`${prefix}_run_id`]: 'run',
    summary: { usage: {}, [service]: { status: 'error' } },
  };

  it('have the names of the types', () => {
    const read = fromWire(record, service);
    expect(read).toMatchObject({ ...call, svc_user_id: 'ada', svc_run_id: 'run' });
    expect(read.summary).toMatchObject({ usage: {}, svc: { status: 'error' } });
    expect(fromWire({ [`${service}_ref`]: 'ref' }, service)).toEqual({ svc_ref: 'ref' });
  });

  it('are asked for by the names of the service', () => {
    expect(pathToWire('svc_user_id', service)).toBe(`${prefix}_user_id`);
    expect(pathToWire('summary.svc.status', service)).toBe(`summary.${service}.status`);
    expect(fieldOf('user', service)).toBe(`${prefix}_user_id`);
  });
});

it('records of a service called svc stay as they are', () => {
  expect(fromWire(call, 'svc')).toBe(call);
});
