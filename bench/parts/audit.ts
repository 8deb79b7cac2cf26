/**
 * What the audit trail takes: units of an entry, and of reading the newest ones.
 */

import { type AuditEntry, appendAudit, queryAudit } from '../../core/records/audit.ts';
import { parseScope } from '../../foundations/auth/index.ts';
import { type RequestBudget, requestBudget } from '../../foundations/storage/index.ts';
import type { Bench, BenchPart } from '../harness/bench.ts';
import { counted, type Figure } from '../harness/figures.ts';

const scope = parseScope('bench/audit') ?? '*';
const actor = { kind: 'person', user: 'ada@example.com', keyId: '0123456789abcdef' } as const;
const entry = { scope, actor, address: '203.0.113.7' };

const member: AuditEntry = {
  ...entry,
  action: 'member.set',
  target: 'ben@example.com',
  before: [],
  after: ['write'],
};

/** An alert with the filters that alerts have. */
const alert = (threshold: number) => ({
  _type: 'Alert',
  name: 'Too many errors in production',
  metric: { metric: 'error_count', aggregation: 'avg' },
  filter: { op_names: ['chat', 'agent'], trace_roots_only: true },
  window_minutes: 60,
  direction: 'above',
  alert: threshold,
  tell: [{ sns: true }, { webhook: 'ops', format: 'slack' }],
  enabled: true,
});

/** As much as an entry keeps of a value. */
const large = { text: 'x'.repeat(4000) };

/** Entries that are read at once. */
const read = 100;

/** Counts the units of entries, which all have an id and a time of their own. */
export const auditFigures = async ({ newStore }: Bench): Promise<Figure[]> => {
  const { table } = await newStore('audit');
  const store = { table, days: 365 };
  const figures: Figure[] = [];
  const count = async (
    what: string,
    units: 'readUnits' | 'writeUnits',
    work: (budget: RequestBudget) => Promise<unknown>,
  ) => {
    const budget = requestBudget(60_000);
    await work(budget);
    figures.push(counted(what, 'units', budget.meter[units]));
  };
  const append = (...entries: readonly AuditEntry[]) => {
    return (budget: RequestBudget) => appendAudit(store, entries, budget);
  };
  await count('a member: write units', 'writeUnits', append(member));
  const change = { ...entry, action: 'alert.set', target: 'errors', before: alert(0.1), after: alert(0.2) };
  await count('an alert, before and after: write units', 'writeUnits', append(change));
  await count(
    'the largest values, before and after: write units',
    'writeUnits',
    append({ ...change, before: large, after: large }),
  );
  await append(...Array.from({ length: read }, () => member))(requestBudget(60_000));
  const question = { scope, start: 0, end: (Date.now() + 60_000) * 1000, limit: read };
  await count('the newest 100: read units', 'readUnits', (budget) => queryAudit(table, question, budget));
  return figures;
};

/** Units of the audit trail. */
export const auditPart: BenchPart = {
  name: 'audit',
  title: 'The audit trail: what an entry takes, and reading it',
  run: async ({ bench }) => auditFigures(await bench()),
};
