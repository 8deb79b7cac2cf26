import { useState } from 'react';
import { limitsClass } from '../../../api/shared/classes.ts';
import type { Me } from '../../api/contract.ts';
import { costText, momentText } from '../../data/format.ts';
import { Lacking, useAllowed, useRead } from '../../session/session.tsx';
import { Button, Notice, QueryStatus, ScrollTable, type TableColumn } from '../../ui/controls.tsx';
import { bindFields, Form, Input, Section } from '../../ui/fields.tsx';
import { useWork } from '../../ui/work.ts';
import { type Numbers, toTyped, typedNumbers } from './numbers.ts';
import { useStoredObject } from './stored-object.ts';

const labels = {
  usd_per_day: 'Dollars a day',
  usd_per_month: 'Dollars a month',
  usd_per_day_per_user: 'Dollars a day and end user',
} as const;

type Field = keyof typeof labels;

const fields = Object.keys(labels) as Field[];

type Limit = NonNullable<Me['limits']>[number];

const dayMs = 86_400_000;

/** What the calls of a project have cost in this UTC day and month, by their prices. */
const useRecorded = (project: string) =>
  useRead(['recorded costs', project], async ({ client, signal }) => {
    const now = new Date();
    const day = Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate());
    const month = Date.UTC(now.getUTCFullYear(), now.getUTCMonth());
    const since = async (start: number): Promise<number> => {
      const { usage_buckets } = await client.ask(
        '/calls/stats',
        {
          project_id: project,
          start: new Date(start).toISOString(),
          end: new Date(day + dayMs).toISOString(),
          granularity: 40 * 86_400,
          usage_metrics: [{ metric: 'total_cost', aggregations: ['sum'] }],
        },
        signal,
      );
      return usage_buckets.reduce((sum, { sum_total_cost: cost }) => sum + (Number(cost) || 0), 0);
    };
    const [today, thisMonth] = await Promise.all([since(day), since(month)]);
    return { today, thisMonth };
  });

const columns: readonly TableColumn<Limit>[] = [
  { title: 'Of', cell: ({ of, project_id }) => (of === 'project' ? project_id : 'your key') },
  { title: 'UTC', cell: ({ period }) => `this ${period}` },
  { title: 'Spent', className: 'numeric', cell: ({ spent_usd }) => costText(spent_usd) },
  { title: 'Limit', className: 'numeric', cell: ({ limit_usd }) => costText(limit_usd) },
  { title: 'Left', className: 'numeric', cell: ({ left_usd }) => costText(left_usd) },
  { title: 'Resets', cell: ({ resets_at }) => momentText(resets_at) },
];

/** What is spent: as limits count it where the service tells, and as it is recorded. */
const Spent = ({ project }: { project: string }) => {
  const me = useRead(['me'], ({ client, signal }) => client.ask('/me', undefined, signal), { staleTime: 0 });
  const recorded = useRecorded(project);
  const limits = me.data?.limits?.filter(({ project_id }) => project_id === null || project_id === project);
  return (
    <Section title="Spent">
      <QueryStatus queries={[me, recorded]} loading="Loading what is spent…" />
      {recorded.data ? (
        <p>
          The calls of {project} cost <strong>{costText(recorded.data.today)}</strong> today and{' '}
          <strong>{costText(recorded.data.thisMonth)}</strong> this month, in UTC.
        </p>
      ) : null}
      {me.data && me.data.limits === undefined ? (
        <p className="muted">
          Limits are stored but not enforced: the setting <code>limits</code> of this deployment is off.
        </p>
      ) : null}
      {limits && !limits.some(({ of }) => of === 'project') ? (
        <p className="muted">
          What is left of the limits is told to people and keys whose grants name {project} itself.
        </p>
      ) : null}
      {limits && limits.length > 0 ? (
        <ScrollTable
          label="Limits"
          columns={columns}
          rows={limits}
          getKey={({ of, period }) => `${of} ${period}`}
        />
      ) : null}
    </Section>
  );
};

interface LimitsFormProps {
  readonly present: Numbers<Field>;
  readonly store: (numbers: Numbers<Field>) => Promise<void>;
}

const LimitsForm = ({ present, store }: LimitsFormProps) => {
  const [typed, setTyped] = useState(() => toTyped(present, fields));
  const field = bindFields(typed, (changes) => setTyped((before) => ({ ...before, ...changes })));
  const { isBusy, error, run } = useWork();
  const save = () => run(async () => store(typedNumbers(typed, labels)), { failed: 'Nothing was saved.' });
  return (
    <Form className="stack" aria-label="Limits of the project" onSubmit={save}>
      <div className="price-fields">
        {fields.map((name) => (
          <Input
            key={name}
            label={labels[name]}
            inputMode="decimal"
            placeholder="no limit"
            {...(name === 'usd_per_day_per_user' && {
              hint: 'Requests say who it is, by user or metadata.user_id.',
            })}
            {...field(name)}
          />
        ))}
      </div>
      {error ? <Notice kind="error">{error}</Notice> : null}
      <div>
        <Button kind="primary" type="submit" idle={isBusy}>
          {isBusy ? 'Saving…' : 'Save'}
        </Button>
      </div>
    </Form>
  );
};

/** What model requests of the project may cost, and what they have cost. */
export const LimitsSection = ({ project }: { project: string }) => {
  const { query, store } = useStoredObject(project, { id: 'limits', className: limitsClass, fields });
  const mayChange = useAllowed(project, 'admin');
  const { data } = query;
  return (
    <>
      <p className="muted">
        The most that requests to models through this service may cost. A request over a limit gets a 429.
        Keys can have limits of their own.
      </p>
      <QueryStatus queries={[query]} loading="Loading limits…" />
      {data && mayChange ? (
        <Section title="Limits">
          <LimitsForm key={JSON.stringify(data)} present={data} store={store} />
        </Section>
      ) : null}
      {data && !mayChange ? (
        <Section title="Limits">
          <dl className="facts-list">
            {fields.map((name) => (
              <div key={name}>
                <dt>{labels[name]}</dt>
                <dd>{data[name] === undefined ? 'no limit' : costText(data[name])}</dd>
              </div>
            ))}
          </dl>
          <Lacking project={project} needs="admin" what="to change them" />
        </Section>
      ) : null}
      <Spent project={project} />
    </>
  );
};
