import { beforeEach, describe, expect, it } from 'vitest';
import {
  type AuditEntry,
  type AuditQuestion,
  type AuditStore,
  appendAudit,
  queryAudit,
} from '../../../../core/records/audit.ts';
import { formatKey, makeKey } from '../../../../foundations/auth/index.ts';
import { requestBudget, scanItems } from '../../../../foundations/storage/index.ts';
import type { ProjectId } from '../../../../foundations/wire/index.ts';
import { createStores } from '../../../support/service/stores.ts';

const now = 1_790_000_000_000_000;
const shop = 'acme/shop' as ProjectId;

let store: AuditStore;
beforeEach(async () => {
  const { dynamodb, auditTable } = await createStores('audit');
  store = { table: { client: dynamodb, name: auditTable }, days: 365 };
});

const entry = (fields: Partial<AuditEntry> = {}): AuditEntry => ({
  scope: shop,
  actor: { kind: 'key', user: 'ada', keyId: '0123456789abcdef' },
  address: '192.0.2.7',
  action: 'obj.delete',
  target: 'limits',
  at: now,
  ...fields,
});

const append = (...entries: AuditEntry[]) => appendAudit(store, entries, requestBudget(20_000));

const query = (fields: Partial<AuditQuestion> = {}) =>
  queryAudit(
    store.table,
    { scope: shop, start: 0, end: Number.MAX_SAFE_INTEGER, limit: 100, ...fields },
    requestBudget(20_000),
  );

const ids = async (fields: Partial<AuditQuestion> = {}) => (await query(fields)).map(({ id }) => id);

describe('an entry', () => {
  it('is read as it was appended', async () => {
    const before = { usd_per_day: 5 };
    const [appended] = await append(entry({ id: 'one', before, after: null }));
    expect(appended).toEqual({
      id: 'one',
      at: '2026-09-21T14:13:20.000000Z',
      project_id: 'acme/shop',
      entity: 'acme',
      actor: { kind: 'key', user: 'ada', key_id: '0123456789abcdef' },
      address: '192.0.2.7',
      action: 'obj.delete',
      target: 'limits',
      before,
      after: null,
    });
    expect(await query()).toEqual([appended]);
  });

  it('needs no address, key and values', async () => {
    const [appended] = await append(entry({ actor: { kind: 'operator', user: 'arn:x' }, address: null }));
    expect(appended).toMatchObject({ address: null, actor: { kind: 'operator', user: 'arn:x' } });
    expect(Object.keys(appended ?? {})).not.toContain('before');
    expect(await query()).toEqual([appended]);
  });

  it('is one however often it is said, and nothing replaces it', async () => {
    await append(entry({ id: 'sign-in', target: 'first' }));
    expect(await append(entry({ id: 'sign-in', target: 'second' }), entry({ id: 'other' }))).toMatchObject([
      { id: 'other' },
    ]);
    expect(await query({ limit: 5 })).toMatchObject([{ target: 'first' }, { id: 'other' }]);
  });

  it('has an id and a time of its own unless it is given them', async () => {
    const { at: _, ...timeless } = entry();
    await append(timeless, timeless, timeless);
    const records = await query();
    expect(new Set(records.map(({ id }) => id)).size).toBe(3);
    expect(new Set(records.map(({ at }) => at)).size).toBe(3);
  });

  it.each([
    ['its time', 3600],
    ['when it was stored, if its time is long ago', -400 * 86_400],
  ])('ends by itself after the days of the setting, counted from %s', async (_, later) => {
    const stored = Math.floor(Date.now() / 1000);
    await append(entry({ at: (stored + later) * 1_000_000 }));
    const [item] = await scanItems(store.table, requestBudget(20_000));
    const ends = Number(item?.x) - 365 * 86_400 - Math.max(stored, stored + later);
    expect(ends).toBeGreaterThanOrEqual(0);
    expect(ends).toBeLessThan(60);
  });

  it('holds no key, wherever somebody wrote one', async () => {
    const key = makeKey();
    const values = { before: { a: [formatKey(key)] }, after: formatKey(key) };
    // The longest target ends in the middle of the second one.
    await append(entry({ target: formatKey(key), ...values }));
    await append(entry({ target: `${'x '.repeat(490)}${formatKey(key)}`, ...values }));
    const text = JSON.stringify(await scanItems(store.table, requestBudget(20_000)));
    expect(text).toContain(key.id);
    expect(text).not.toContain(key.secret.slice(0, 8));
  });

  it('keeps the beginning of a value that is too long', async () => {
    const [appended] = await append(entry({ after: { text: '\u{1F600}'.repeat(5000) } }));
    expect(appended?.after).toMatchObject({
      cut: true,
      bytes: 20_011,
      beginning: expect.stringMatching(/^\{"text":"😀/u),
    });
    expect(JSON.stringify(appended).length).toBeLessThan(2000);
  });
});

describe('a query', () => {
  const at = (seconds: number) => now + seconds * 1_000_000;

  beforeEach(() =>
    append(
      entry({ id: 'a', at: at(1) }),
      entry({ id: 'b', at: at(2), action: 'key.create', actor: { kind: 'person', user: 'ben@example.com' } }),
      entry({ id: 'c', at: at(3), scope: 'acme/*', action: 'key.revoke' }),
      entry({ id: 'd', at: at(4), scope: 'acme/shop2' as ProjectId }),
      entry({ id: 'e', at: at(5), scope: 'acmex/shop' as ProjectId }),
      entry({ id: 'f', at: at(6), scope: '*' }),
    ),
  );

  it('gives those of a project alone, the newest first', async () => {
    expect(await ids()).toEqual(['b', 'a']);
  });

  it('gives all of an entity and its projects', async () => {
    expect(await ids({ scope: 'acme/*' })).toEqual(['d', 'c', 'b', 'a']);
  });

  it('gives those about the service as a whole', async () => {
    expect(await ids({ scope: '*' })).toEqual(['f']);
  });

  it('takes the start and leaves the end out', async () => {
    expect(await ids({ scope: 'acme/*', start: at(2), end: at(4) })).toEqual(['c', 'b']);
    expect(await ids({ scope: 'acme/*', start: at(4), end: at(2) })).toEqual([]);
  });

  it('gives those of an actor, by user or key', async () => {
    expect(await ids({ actor: 'ben@example.com' })).toEqual(['b']);
    expect(await ids({ actor: '0123456789abcdef' })).toEqual(['a']);
    expect(await ids({ actor: 'ben' })).toEqual([]);
  });

  it('gives those of an action, or of all that begin with its word', async () => {
    expect(await ids({ scope: 'acme/*', action: 'key' })).toEqual(['c', 'b']);
    expect(await ids({ scope: 'acme/*', action: 'key.create' })).toEqual(['b']);
    expect(await ids({ scope: 'acme/*', action: 'ke' })).toEqual([]);
  });

  it('gives at most as many as the limit', async () => {
    expect(await ids({ scope: 'acme/*', limit: 2 })).toEqual(['d', 'c']);
  });

  it('reads on where matches are rare', async () => {
    const long = 'x'.repeat(4000);
    const many = Array.from({ length: 400 }, (_, i) => entry({ id: `${i}`, at: at(10 + i), after: long }));
    await append(...many, entry({ id: 'deep', at: at(9), action: 'key.create' }));
    expect(await ids({ action: 'key', limit: 1 })).toEqual(['deep']);
  });
});
