import { getRouteApi, Link } from '@tanstack/react-router';
import { FlaskConical } from 'lucide-react';
import { useMemo, useRef, useState } from 'react';
import { StatusBadge } from '../../calls/badges.tsx';
import { TimeMenu } from '../../calls/filters/time-menu.tsx';
import { costText, countedText, countText, durationText, latencyText } from '../../data/format.ts';
import { useChange } from '../../navigation/change.ts';
import { type EvaluationsSearch, maxRuns, toSpan } from '../../navigation/search.ts';
import { useAllowed } from '../../session/session.tsx';
import {
  Button,
  Empty as EmptyView,
  Failure,
  Moment,
  Notice,
  RefreshButton,
  SearchForm,
  Skeleton,
  sortableBy,
  Table,
  type TableColumn,
} from '../../ui/controls.tsx';
import { Choice } from '../../ui/fields.tsx';
import { Shortcuts, stepKeys, stepped, useKeys } from '../../ui/keys.tsx';
import { HeadTools, View } from '../../ui/view.tsx';
import { maxListed, type Run, type RunFigures, useEvaluations, useFigures } from './data.ts';
import { Leaderboards } from './leaderboards.tsx';
import { ScoreCharts } from './score-charts.tsx';
import type { Named } from './scores.ts';
import { scoreText } from './words.ts';

const route = getRouteApi('/evaluations');

/** How many scores have a column, and how many evaluations are shown at first. */
const maxScores = 8;
const firstShown = 50;

/** The scores of evaluations, those that most have first. */
const listScores = (runs: readonly Run[]): string[] => {
  const counts = new Map<string, number>();
  for (const { means } of runs)
    for (const name of means.keys()) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts].toSorted(([, one], [, other]) => other - one).map(([name]) => name);
};

const isFound = (
  { name, model, dataset }: Run,
  { text, dataset: datasetFilter }: EvaluationsSearch,
): boolean => {
  if (datasetFilter !== undefined && dataset?.name !== datasetFilter) return false;
  const sought = text?.toLowerCase();
  return (
    sought === undefined ||
    [name, model?.name, model?.version, dataset?.name].some((text) => text?.toLowerCase().includes(sought))
  );
};

type Read = (run: Run) => number | undefined;

const getAmount = (figures: RunFigures | undefined): number | undefined => {
  const amounts = [...(figures?.usage?.cost?.values() ?? [])];
  return amounts.length === 0 ? undefined : amounts.reduce((sum, amount) => sum + amount, 0);
};

/** What runs are sorted by, from what the URL says. */
const makeReader = (column: string, figures: ReadonlyMap<string, RunFigures>): Read => {
  const score = /^score\.(.*)$/s.exec(column)?.[1];
  if (score !== undefined) return ({ means }) => means.get(score);
  const reads: Readonly<Record<string, Read>> = {
    rows: ({ id }) => figures.get(id)?.rows,
    errors: ({ id }) => figures.get(id)?.errors,
    cost: ({ id }) => getAmount(figures.get(id)),
    latency: ({ latency }) => latency,
  };
  return reads[column] ?? (({ startedAt }) => Date.parse(startedAt));
};

const sortedBy = (runs: readonly Run[], sort: string, figures: ReadonlyMap<string, RunFigures>): Run[] => {
  const read = makeReader(sort.replace(/^-/, ''), figures);
  const sign = sort.startsWith('-') ? -1 : 1;
  return runs.toSorted((one, other) => {
    const left = read(one);
    const right = read(other);
    if (left === undefined || right === undefined)
      return Number(left === undefined) - Number(right === undefined);
    return sign * (left - right);
  });
};

const isCounted = /^-?(rows|errors|cost)$/;
const noFigures: ReadonlyMap<string, RunFigures> = new Map();

const NamedThing = ({ named }: { named: Named | undefined }) =>
  named ? (
    <>
      {named.name} {named.version ? <span className="hint">{named.version}</span> : null}
    </>
  ) : null;

interface RunTableProps {
  readonly search: EvaluationsSearch;
  readonly runs: readonly Run[];
  readonly scores: readonly string[];
  readonly figures: ReadonlyMap<string, RunFigures>;
  readonly active: number;
  readonly onPick: (id: string) => void;
  readonly onSort: (sort: string) => void;
}

const RunTable = ({ search, runs, scores, figures, active, onPick, onSort }: RunTableProps) => {
  const { project, sort = '-started', runs: picked = [] } = search;
  const sortable = sortableBy(sort, onSort);
  const numeric = (title: string, column: string, cell: TableColumn<Run>['cell']): TableColumn<Run> => ({
    title,
    className: 'numeric',
    cell,
    ...sortable(column),
  });
  const columns: readonly TableColumn<Run>[] = [
    {
      title: 'Compare',
      className: 'select',
      cell: ({ id, name }) => (
        <input
          type="checkbox"
          aria-label={`Compare ${name}`}
          checked={picked.includes(id)}
          disabled={!picked.includes(id) && picked.length >= maxRuns}
          onChange={() => onPick(id)}
        />
      ),
    },
    {
      title: 'Evaluation',
      className: 'break',
      cell: ({ id, name, status }) => (
        <>
          <Link to="/evaluation" search={{ project, runs: [id] }} dir="auto">
            {name}
          </Link>{' '}
          {status === 'success' ? null : <StatusBadge status={status} />}
        </>
      ),
    },
    { title: 'Started', cell: ({ startedAt }) => <Moment time={startedAt} />, ...sortable('started') },
    { title: 'Model', cell: ({ model }) => <NamedThing named={model} /> },
    { title: 'Dataset', cell: ({ dataset }) => <NamedThing named={dataset} /> },
    ...scores.slice(0, maxScores).map((score) =>
      numeric(`Mean ${score}`, `score.${score}`, ({ means }) => {
        const mean = means.get(score);
        return mean === undefined ? null : scoreText(mean);
      }),
    ),
    numeric('Rows', 'rows', ({ id }) => {
      const rows = figures.get(id)?.rows;
      return rows === undefined ? null : countText(rows);
    }),
    numeric('Errors', 'errors', ({ id }) => {
      const errors = figures.get(id)?.errors ?? 0;
      return errors > 0 ? <span className="error-text">{countText(errors)}</span> : null;
    }),
    numeric('Cost', 'cost', ({ id }) => {
      const cost = figures.get(id)?.usage?.cost;
      return cost === undefined ? null : costText(cost);
    }),
    numeric('Latency', 'latency', ({ latency, duration }) => (
      <span title={`total: ${latencyText(duration)}`}>
        {latency === undefined ? '' : durationText(latency)}
      </span>
    )),
  ];
  return (
    <div className="scroll-x">
      <Table
        className="wide as-cards"
        columns={columns}
        rows={runs}
        getKey={({ id }) => id}
        active={active}
      />
    </div>
  );
};

const keys = [
  ['j ↓', 'next evaluation'],
  ['k ↑', 'previous evaluation'],
  ['Enter', 'open the evaluation'],
  ['x', 'select the evaluation'],
  ['c', 'compare the selected ones'],
  ['/', 'search'],
  ['?', 'these keys'],
] as const;

interface Actions {
  readonly pick: (id: string) => void;
  readonly compare: () => void;
  readonly search: () => void;
}

/** The keyboard of the list: which evaluation it is at, and what its keys do. */
const useListKeys = (runs: readonly Run[], project: string, { pick, compare, search }: Actions) => {
  const navigate = route.useNavigate();
  const [activeId, setActiveId] = useState<string>();
  const [help, setHelp] = useState(false);
  const active = runs.findIndex(({ id }) => id === activeId);
  const move = (by: number) => setActiveId(runs[stepped(active, by, runs.length)]?.id);
  useKeys({
    ...stepKeys(move),
    Enter: () => {
      if (activeId) navigate({ to: '/evaluation', search: { project, runs: [activeId] } });
    },
    x: () => activeId && pick(activeId),
    c: compare,
    '/': search,
    '?': () => setHelp(true),
  });
  return { active, help, setHelp };
};

const NewEvaluation = ({ project }: { project: string }) =>
  useAllowed(project, 'write') ? (
    <Link to="/evaluate" search={{ project }} className="button primary">
      New evaluation
    </Link>
  ) : null;

const Empty = ({ search, onClear }: { search: EvaluationsSearch; onClear: () => void }) =>
  search.text || search.dataset ? (
    <Notice kind="info" action={<Button onClick={onClear}>Show all evaluations</Button>}>
      No evaluation in this period matches.
    </Notice>
  ) : (
    <EmptyView icon={FlaskConical} title={`${search.project} has no evaluations in this period`}>
      An evaluation runs a model on a dataset and scores its answers. Choose a longer period, or run one: with
      a prompt from here, or with a program. <code>clients/js/evaluate.ts</code> and{' '}
      <code>clients/python/evaluate.py</code> are whole clients, and Weave’s SDKs report theirs here.
    </EmptyView>
  );

/** The evaluations of a project: their scores in a table and over time, and the way to compare them. */
export const EvaluationsView = () => {
  const search = route.useSearch();
  const { project, sort = '-started', runs: picked = [] } = search;
  const change = useChange<EvaluationsSearch>(route.useNavigate());
  const navigate = route.useNavigate();
  const span = toSpan(search, '30d');
  const query = useEvaluations({ project, ...span });
  const [shownCount, setShownCount] = useState(firstShown);
  const all = query.data;
  const found = useMemo(() => all?.filter((run) => isFound(run, search)) ?? [], [all, search]);
  const scores = useMemo(() => listScores(found), [found]);
  // What is counted is known of those in sight alone.
  const ordered = isCounted.test(sort) ? found : sortedBy(found, sort, noFigures);
  const counted = ordered.slice(0, shownCount);
  const figures = useFigures(project, counted);
  const shown = sortedBy(counted, sort, figures);
  const datasets = [...new Set(all?.flatMap(({ dataset }) => dataset?.name ?? []))].toSorted();
  const pick = (id: string) => {
    const next = picked.includes(id) ? picked.filter((other) => other !== id) : [...picked, id];
    if (next.length <= maxRuns) change({ runs: next.length > 0 ? next : undefined });
  };
  const compare = () => {
    if (picked.length > 1) navigate({ to: '/evaluation', search: { project, runs: picked } });
  };
  const find = useRef<HTMLInputElement>(null);
  const actions = { pick, compare, search: () => find.current?.focus() };
  const { active, help, setHelp } = useListKeys(shown, project, actions);
  return (
    <View
      title="Evaluations"
      about={<span role="status">{query.isLoading ? '' : countedText(found.length, 'evaluation')}</span>}
      actions={
        <>
          {picked.length > 0 ? (
            <Button kind="quiet" onClick={() => change({ runs: undefined })}>
              Clear selection
            </Button>
          ) : (
            <span className="muted">Choose two to six to compare</span>
          )}
          {picked.length > 1 ? (
            <Link to="/evaluation" search={{ project, runs: picked }} className="button plain">
              Compare {picked.length}
            </Link>
          ) : null}
          <RefreshButton onClick={() => query.refetch()} />
          <NewEvaluation project={project} />
        </>
      }
      toolbar={
        <>
          <SearchForm
            label="Search names and models"
            text={search.text}
            box={find}
            onSearch={(text) => change({ text })}
          />
          <Choice
            className="compared"
            label="Dataset"
            value={search.dataset ?? ''}
            options={[['', 'all'], ...datasets]}
            onChange={(dataset) => change({ dataset: dataset || undefined })}
          />
        </>
      }
    >
      <HeadTools>
        <TimeMenu span={span} onChange={({ range, from, to }) => change({ range, from, to })} />
      </HeadTools>
      {query.isLoading ? <Skeleton label="Loading evaluations…" /> : null}
      <Failure error={query.error} onRetry={query.refetch} />
      {all && found.length === 0 ? (
        <Empty search={search} onClear={() => change({ text: undefined, dataset: undefined })} />
      ) : null}
      {scores.length > 0 ? <ScoreCharts project={project} scores={scores} runs={found} /> : null}
      {shown.length > 0 ? (
        <RunTable
          search={search}
          runs={shown}
          scores={scores}
          figures={figures}
          active={active}
          onPick={pick}
          onSort={(next) => change({ sort: next === '-started' ? undefined : next })}
        />
      ) : null}
      {found.length > shownCount ? (
        <Button onClick={() => setShownCount((count) => count + firstShown)}>More evaluations</Button>
      ) : null}
      {all?.length === maxListed ? (
        <p className="hint">
          These are the newest {countText(maxListed)} in this period. Choose a shorter one.
        </p>
      ) : null}
      <Leaderboards project={project} />
      <Shortcuts open={help} onClose={() => setHelp(false)} keys={keys} />
    </View>
  );
};
