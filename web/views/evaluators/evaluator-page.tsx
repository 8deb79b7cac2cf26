import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { isVerdictId, maxScored } from '../../../api/shared/evaluators.ts';
import type { CallRow } from '../../api/calls.ts';
import { getFeedback } from '../../api/feedback.ts';
import { errorText } from '../../api/http.ts';
import { CallLink } from '../../calls/call-link.tsx';
import type { Evaluator, Verdict } from '../../calls/evaluators.ts';
import { MetricChart } from '../../calls/figures/charts.tsx';
import { percentText } from '../../calls/figures/figures.ts';
import { toPeriod } from '../../calls/figures/requests.ts';
import { costText, countedText, countText } from '../../data/format.ts';
import { useChange } from '../../navigation/change.ts';
import type { EvaluatorsSearch, Range } from '../../navigation/search.ts';
import { Person, useAllowed, useSession } from '../../session/session.tsx';
import {
  Button,
  Check,
  Moment,
  Notice,
  QueryStatus,
  ScrollTable,
  type TableColumn,
} from '../../ui/controls.tsx';
import { Input, Segments } from '../../ui/fields.tsx';
import { Confirm, Modal } from '../../ui/popups.tsx';
import { useSettled } from '../../ui/settled.ts';
import {
  getAnswerType,
  type JudgesCost,
  maxLookedUp,
  maxVerdicts,
  mayChange,
  useJudgeCosts,
  useJudgedCalls,
  useNewest,
  useScoring,
  useSpending,
  useStoreEvaluator,
  useVerdictStats,
  useVerdicts,
} from './data.ts';
import { kindText, onText } from './evaluator.ts';
import { Switch } from './switch.tsx';
import {
  type Comparison,
  compareOpinions,
  costLine,
  type Totals,
  toSeries,
  toTotals,
  valueText,
} from './verdicts.ts';

const route = getRouteApi('/evaluators');

interface EvaluatorProps {
  readonly project: string;
  readonly evaluator: Evaluator;
}

/** Has the evaluator judge calls that are there already, at a price that is said before. */
const RunForm = ({ project, evaluator, onClose }: EvaluatorProps & { readonly onClose: () => void }) => {
  const [typed, setTyped] = useState('100');
  const count = useSettled(Number(typed), 300);
  const isCount = Number.isInteger(count) && count >= 1 && count <= maxScored;
  const { price, run } = useScoring(project, evaluator, isCount ? count : undefined);
  const { data } = price;
  const isPriced = isCount && count === Number(typed) && data !== undefined && !price.isFetching;
  const [spent] = data?.spent_today_usd ?? [];
  const { judge, max_usd_per_day: limit, enabled } = evaluator.value;
  const isOff = Boolean(judge) && !enabled;
  const words = () => {
    if (!data) return '';
    const { calls, estimated_usd: usd, ids } = data;
    if (calls === 0) return `All of the latest ${countText(ids.length)} matching calls have a verdict.`;
    const cost = !judge
      ? 'which costs nothing'
      : usd === null
        ? 'at an unknown price'
        : `for about ${costText(usd)}`;
    return `${countedText(calls, 'call')} of the latest ${countText(ids.length)} matching calls will be judged, ${cost}.`;
  };
  return (
    <div className="stack">
      <Input
        label={`Number of latest matching calls, up to ${countText(maxScored)}`}
        type="number"
        step={1}
        min={1}
        max={maxScored}
        value={typed}
        onChange={setTyped}
      />
      <p role="status">{isPriced ? words() : isCount ? 'Working out the price…' : ''}</p>
      {isPriced && judge && typeof limit === 'number' && spent !== undefined ? (
        <p className="muted">
          {costText(spent)} of today's {costText(limit)} (UTC) is spent. Calls that the budget does not cover
          get a verdict that says so.
        </p>
      ) : null}
      {isOff ? <p className="muted">This evaluator is off. Turn it on first.</p> : null}
      {[price.error, run.error].map((error) =>
        error ? (
          <Notice key={errorText(error)} kind="error">
            {errorText(error)}
          </Notice>
        ) : null,
      )}
      <div className="row-end">
        <Button onClick={onClose}>Cancel</Button>
        <Button
          kind="primary"
          disabled={isOff || !isPriced || data.calls === 0 || !data.is_on}
          idle={run.isPending}
          onClick={() => run.mutate(data?.ids ?? [], { onSuccess: onClose })}
        >
          {isPriced && data.calls > 0 ? `Judge ${countedText(data.calls, 'call')}` : 'Judge'}
        </Button>
      </div>
    </div>
  );
};

/** What can be done with an evaluator. */
const Actions = ({ project, evaluator }: EvaluatorProps) => {
  const { me } = useSession();
  const mayScore = useAllowed(project, 'write');
  const { remove } = useStoreEvaluator(project);
  const navigate = useNavigate();
  const [opened, setOpened] = useState<'run' | 'remove'>();
  const leave = () => navigate({ to: '/evaluators', search: { project } });
  const close = () => setOpened(undefined);
  const mayEdit = mayChange(me, project, evaluator.value);
  return (
    <span className="row-end wrap">
      {mayScore ? <Button onClick={() => setOpened('run')}>Judge existing calls</Button> : null}
      {mayEdit ? (
        <>
          <Link
            to="/evaluators"
            search={{ project, evaluator: evaluator.id, form: true }}
            className="button plain"
          >
            Edit
          </Link>
          <Button onClick={() => setOpened('remove')}>Delete</Button>
        </>
      ) : null}
      <Modal title="Judge existing calls" open={opened === 'run'} onClose={close}>
        <RunForm project={project} evaluator={evaluator} onClose={close} />
      </Modal>
      <Confirm
        title="Delete this evaluator?"
        action="Delete"
        open={opened === 'remove'}
        onClose={close}
        idle={remove.isPending}
        error={remove.error}
        onConfirm={() => remove.mutate(evaluator.id, { onSuccess: leave })}
      >
        This deletes all versions of {evaluator.value.name}. Its verdicts are kept.
      </Confirm>
    </span>
  );
};

/** How often each value was given. A click lists the verdicts with it. */
const Distribution = ({ totals, only, onOnly }: DistributionProps) => {
  const { count, failures, values, mean, least, most } = totals;
  const all = values.reduce((sum, [, some]) => sum + some, 0);
  const parts: readonly (readonly [value: string, count: number, of: number])[] = [
    ...values.map(([value, some]) => [value, some, all] as const),
    ...(failures > 0 ? [['not judged', failures, count] as const] : []),
  ];
  return (
    <section className="card metric" aria-label="Results">
      <h2>Results</h2>
      <p>
        {countedText(count, 'verdict')}
        {mean === undefined
          ? ''
          : `: mean ${valueText(mean)}, from ${valueText(least ?? mean)} to ${valueText(most ?? mean)}`}
      </p>
      <ul className="distribution">
        {parts.map(([value, some, total]) => (
          <li key={value}>
            <Button
              kind="quiet"
              aria-pressed={only === value}
              onClick={() => onOnly(only === value ? undefined : value)}
            >
              <span className="cut" dir="auto">
                {value}
              </span>
            </Button>
            <span className="bar-of" aria-hidden="true">
              <span style={{ inlineSize: percentText(total === 0 ? 0 : some / total).replace(' ', '') }} />
            </span>
            <span className="numeric">
              {countText(some)} · {percentText(total === 0 ? 0 : some / total)}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
};

interface DistributionProps {
  readonly totals: Totals;
  readonly only: string | undefined;
  readonly onOnly: (value: string | undefined) => void;
}

/** How many disagreements are listed. */
const shownDisagreements = 20;

interface AgreementProps {
  readonly comparisons: readonly Comparison[];
  readonly calls: ReadonlyMap<string, CallRow>;
  readonly inverted: boolean;
  readonly onInverted: (inverted: boolean) => void;
}

/** How far the evaluator says what people say of the same calls. */
const Agreement = ({ comparisons, calls, inverted, onInverted }: AgreementProps) => {
  const same = comparisons.filter(({ agrees }) => agrees).length;
  const others = comparisons.filter(({ agrees }) => !agrees).slice(0, shownDisagreements);
  const columns: readonly TableColumn<Comparison>[] = [
    {
      title: 'Call',
      className: 'break',
      cell: ({ verdict }) => <VerdictCall verdict={verdict} calls={calls} />,
    },
    { title: 'Evaluator', cell: ({ verdict }) => valueText(verdict.value) },
    {
      title: 'Person',
      className: 'break',
      cell: ({ opinion, by }) => (
        <>
          {opinion} (<Person user={by} />)
        </>
      ),
    },
  ];
  return (
    <section className="card metric whole" aria-label="Agreement with people">
      <h2>Agreement with people</h2>
      {comparisons.length === 0 ? (
        <p className="muted">
          These calls have no comparable feedback yet: thumbs, a score, or an annotation of the same kind.
        </p>
      ) : (
        <p>
          <strong>{percentText(same / comparisons.length)}</strong>: {countText(same)} of{' '}
          {countedText(comparisons.length, 'opinion')} {comparisons.length === 1 ? 'says' : 'say'} the same.
        </p>
      )}
      <Check label="True, or a high number, means bad" checked={inverted} onChange={onInverted} />
      {others.length > 0 ? (
        <ScrollTable
          label="Disagreements"
          className=""
          columns={columns}
          rows={others}
          getKey={({ verdict, by, opinion }) => `${verdict.id} ${by} ${opinion}`}
        />
      ) : null}
    </section>
  );
};

/** The call of a verdict, as far as it was looked up. */
const VerdictCall = ({ verdict, calls }: { verdict: Verdict; calls: ReadonlyMap<string, CallRow> }) => {
  const call = calls.get(verdict.call);
  return call ? <CallLink call={call} /> : <span className="muted">{verdict.call}</span>;
};

/** How many verdicts are listed at first, and are added at a time. */
const shownVerdicts = 25;

interface LatestProps {
  readonly project: string;
  readonly verdicts: readonly Verdict[];
  readonly calls: ReadonlyMap<string, CallRow>;
  readonly costs: ReadonlyMap<string, JudgesCost>;
  readonly isJudge: boolean;
}

/** The latest verdicts, with the calls that they are on. */
const Latest = ({ project, verdicts, calls, costs, isJudge }: LatestProps) => {
  const [shown, setShown] = useState(shownVerdicts);
  const columns: readonly TableColumn<Verdict>[] = [
    { title: 'Call', className: 'break', cell: (verdict) => <VerdictCall verdict={verdict} calls={calls} /> },
    {
      title: 'Verdict',
      cell: ({ id, value }) => (
        <>
          <strong>{valueText(value)}</strong>
          {isVerdictId(id) ? null : <span className="muted"> · written by a client</span>}
        </>
      ),
    },
    {
      title: 'Reason',
      className: 'break',
      cell: ({ reason, error }) => (error ? <span className="error-text">{error}</span> : reason),
    },
    { title: 'When', cell: ({ at }) => <Moment time={new Date(at).toISOString()} /> },
    ...(isJudge
      ? [
          {
            title: 'Cost',
            className: 'numeric' as const,
            cell: ({ judge }: Verdict) => <JudgesCall project={project} judge={judge} costs={costs} />,
          },
        ]
      : []),
  ];
  if (verdicts.length === 0) return <p className="muted">None in this period.</p>;
  return (
    <>
      <ScrollTable
        label="Latest verdicts"
        columns={columns}
        rows={verdicts.slice(0, shown)}
        getKey={({ id }) => id}
      />
      {verdicts.length > shown ? (
        <Button onClick={() => setShown(shown + shownVerdicts)}>
          Show more of {countText(verdicts.length)}
        </Button>
      ) : null}
    </>
  );
};

/** What the judge of a verdict cost, with a link to what it was asked. */
const JudgesCall = ({
  project,
  judge,
  costs,
}: Pick<LatestProps, 'project' | 'costs'> & Pick<Verdict, 'judge'>) => {
  if (judge === undefined) return null;
  const call = costs.get(judge);
  if (!call) return <span className="muted">…</span>;
  return (
    <Link to="/trace" search={{ project, trace: call.trace, call: judge }}>
      {call.usd === undefined ? 'no price' : costText(call.usd)}
    </Link>
  );
};

const none: readonly Verdict[] = [];
const noCalls: ReadonlyMap<string, CallRow> = new Map();
const noCosts: ReadonlyMap<string, JudgesCost> = new Map();

const shownRanges: readonly (readonly [Range, string])[] = [
  ['24h', '24 hours'],
  ['7d', '7 days'],
  ['30d', '30 days'],
];

/** Everything about an evaluator's verdicts, as far as it is there. */
const useEvaluatorPage = ({ project, evaluator }: EvaluatorProps, range: Range, inverted: boolean) => {
  const type = getAnswerType(evaluator);
  const [now] = useState(() => Date.now());
  const { start, granularity } = useMemo(() => toPeriod({ range }, now), [range, now]);
  const [areMany, setAreMany] = useState(false);
  const newest = useNewest(project, evaluator, areMany);
  const spending = useSpending(project, [evaluator], newest);
  const stats = useVerdictStats(project, evaluator, start, granularity, newest);
  const verdicts = useVerdicts(project, evaluator, start, newest);
  const { data: latest = none } = verdicts;
  const calls = useJudgedCalls(project, latest);
  const costs = useJudgeCosts(project, latest);
  const { minimum, maximum } = evaluator.value.judge?.answer ?? {};
  const { data: found = noCalls } = calls;
  const totals = stats.data && toTotals(stats.data, type, latest);
  if (totals && totals.count > maxVerdicts !== areMany) setAreMany(!areMany);
  return {
    latest,
    calls: found,
    costs: costs.data ?? noCosts,
    queries: [stats, verdicts, calls, costs],
    granularity,
    spent: spending.data?.spent.get(evaluator.id),
    totals,
    series:
      stats.data &&
      toSeries(stats.data, { start, end: Math.max(Date.parse(stats.data.end), now) }, type, latest),
    comparisons: compareOpinions(
      latest.slice(0, maxLookedUp),
      (id) => {
        const call = found.get(id);
        return call ? getFeedback(call) : [];
      },
      { minimum: minimum ?? 0, maximum: maximum ?? 1, inverted },
    ),
  };
};

interface EvaluatorPageProps extends EvaluatorProps {
  readonly isOn: boolean | undefined;
}

/** An evaluator with its verdicts over time, what they cost, and how far people agree with it. */
export const EvaluatorPage = ({ project, evaluator, isOn }: EvaluatorPageProps) => {
  const { range = '7d', only, inverted = false } = route.useSearch();
  const change = useChange<EvaluatorsSearch>(route.useNavigate());
  const { value } = evaluator;
  const page = useEvaluatorPage({ project, evaluator }, range, inverted);
  const { latest, totals, series, calls, costs, granularity, spent } = page;
  const shown = only === undefined ? latest : latest.filter((verdict) => valueText(verdict.value) === only);
  const known = [...costs.values()].flatMap((cost) => cost.usd ?? []);
  const usd = known.reduce((sum, cost) => sum + cost, 0);
  const isShare = getAnswerType(evaluator) !== 'number';
  return (
    <div className="stack evaluator">
      <div className="row-between wrap">
        <p className="facts">
          <Switch project={project} evaluator={evaluator} />
          <span>{onText(value)}</span>
          <span className="break">{kindText(value)}</span>
          {value.judge ? (
            <span>
              {spent === undefined ? '' : `${costText(spent)} of `}
              {costText(value.max_usd_per_day ?? 0)} today
            </span>
          ) : null}
        </p>
        <Actions project={project} evaluator={evaluator} />
      </div>
      <Segments
        fit
        legend="Time"
        value={range}
        options={shownRanges}
        onChange={(next) => change({ range: next === '7d' ? undefined : next })}
      />
      <QueryStatus queries={page.queries} loading="Loading verdicts…" />
      {totals?.count === 0 ? (
        <Notice kind="info">
          There is no verdict in the last {shownRanges.find(([shownRange]) => shownRange === range)?.[1]}.
          {value.enabled && isOn !== false
            ? ' It judges calls that end from about five seconds after you turned it on. New verdicts appear here, and Judge existing calls is for older ones.'
            : ' Use Judge existing calls for older ones.'}
        </Notice>
      ) : null}
      {series && totals && totals.count > 0 ? (
        <div className="charts">
          <MetricChart
            title="Verdicts"
            points={series.buckets}
            lines={series.counts}
            bars
            granularity={granularity}
            text={countText}
          />
          <MetricChart
            title={isShare ? 'Shares' : 'Mean'}
            points={series.buckets}
            lines={series.values}
            bars={false}
            granularity={granularity}
            text={isShare ? percentText : valueText}
          />
          {/* Without a price nobody knows the cost, and it is not zero. */}
          {value.judge && known.length > 0 ? (
            <MetricChart
              title={`Cost: ${costText(usd)}`}
              points={series.buckets}
              lines={[costLine(series.buckets, latest, costs)]}
              bars
              granularity={granularity}
              text={costText}
            />
          ) : null}
          <Distribution totals={totals} only={only} onOnly={(next) => change({ only: next })} />
          <Agreement
            comparisons={page.comparisons}
            calls={calls}
            inverted={inverted}
            onInverted={(next) => change({ inverted: next || undefined })}
          />
        </div>
      ) : null}
      {totals && totals.count > 0 ? (
        <>
          <h2>
            Latest verdicts
            {only === undefined ? '' : `: ${only}`}
          </h2>
          {only === undefined ? null : (
            <div>
              <Button kind="quiet" onClick={() => change({ only: undefined })}>
                Show all
              </Button>
            </div>
          )}
          <Latest
            key={only ?? ''}
            project={project}
            verdicts={shown}
            calls={calls}
            costs={costs}
            isJudge={value.judge !== undefined && value.judge !== null}
          />
          {latest.length === maxVerdicts || totals.count > maxLookedUp ? (
            <p className="hint">
              Of the time there are {countText(totals.count)} verdicts. The latest {countText(maxVerdicts)}{' '}
              are listed and their costs and labels counted; of the latest {countText(maxLookedUp)} calls and
              people&apos;s feedback are looked up.
            </p>
          ) : null}
        </>
      ) : null}
    </div>
  );
};
