import type { BusEvent } from 'cdk-local-runner/streams';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventDetails } from '../../../../api/openapi/events.ts';
import { startService, type TestService } from '../../../support/service/service.ts';

/*
 * Keys and the audit trail of a service that has limits and events.
 */

let service: TestService;
beforeAll(async () => {
  service = await startService({ settings: { limits: true, events: true } });
});
afterAll(() => service.stop());

const create = (fields: object = {}) =>
  service.post('/keys/create', { user: 'ci', grants: ['acme/shop:inference'], ...fields });

describe('with the setting limits', () => {
  it('a key has those that it is made with', async () => {
    const answer = await create({ usd_per_day: 5, usd_per_month: 50 });
    const { key, ...made } = (await answer.json()) as { key: string };
    expect([answer.status, made]).toMatchObject([200, { usd_per_day: 5, usd_per_month: 50 }]);
    const authorization = `Basic ${btoa(`api:${key}`)}`;
    const me = await fetch(`${service.url}/me`, { headers: { authorization } });
    const { limits } = (await me.json()) as { limits: object[] };
    expect(limits).toMatchObject([
      { of: 'key', period: 'day', limit_usd: 5 },
      { of: 'key', period: 'month', limit_usd: 50 },
    ]);
  });
});

describe('with the setting events', () => {
  it('each entry is told on the bus, as the trail has it', async () => {
    const events: BusEvent[] = [];
    const unsubscribe = service.bus.subscribe((event) => {
      if (event['detail-type'] === 'AuditRecorded') events.push(event);
    });
    const limits = { _type: 'Limits', usd_per_day: 5 };
    await create({ grants: ['told/shop:read', 'told/*:report'] });
    await service.post('/obj/create', { obj: { project_id: 'told/shop', object_id: 'limits', val: limits } });
    unsubscribe();
    const query = { entity: 'told', start: '2020-01-01', end: '2100-01-01' };
    const { records } = (await (await service.post('/audit/query', query)).json()) as {
      records: { id: string }[];
    };
    expect(records).toMatchObject([
      { action: 'limits.set', project_id: 'told/shop', after: limits },
      { action: 'key.create' },
      { action: 'key.create' },
    ]);
    const told = events.map(({ detail }) => eventDetails().AuditRecorded.parse(detail));
    const byId = (list: readonly { readonly id?: string }[]) =>
      list.toSorted((a, b) => (String(a.id) < String(b.id) ? -1 : 1));
    expect(byId(told)).toEqual(byId(records.map((record) => ({ ...record, event_id: expect.any(String) }))));
    expect(new Set(told.map(({ event_id }) => event_id)).size).toBe(3);
  });
});
