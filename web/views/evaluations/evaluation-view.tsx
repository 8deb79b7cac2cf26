import { getRouteApi, Link } from '@tanstack/react-router';
import { useDeferredValue, useMemo } from 'react';
import { countedText, countText } from '../../data/format.ts';
import { useChange } from '../../navigation/change.ts';
import { type EvaluationSearch, maxRuns, type RowFilter, rowFilters } from '../../navigation/search.ts';
import { Failure, Notice, QueryStatus } from '../../ui/controls.tsx';
import { Choice, Segments } from '../../ui/fields.tsx';
import { View } from '../../ui/view.tsx';
import { isRunning, useRowFigures, useRunRows, useRuns, useVerdicts } from './data.ts';
import {
  computeChanges,
  findMeasures,
  isShown,
  joinRuns,
  type Measure,
  type Placed,
  worstFirst,
} from './join.ts';
import { MeansTable } from './means-table.tsx';
import { RowList } from './row-list.tsx';
import { withVerdicts } from './scores.ts';

const route = getRouteApi('/evaluation');

const filterTitles: Readonly<Record<RowFilter, string>> = {
  worse: 'Worse',
  better: 'Better',
  failed: 'Failed',
  only: 'Not in all',
};

interface RowFiltersProps {
  readonly rows: readonly Placed[];
  readonly show: RowFilter | undefined;
  readonly single: boolean;
  readonly onShow: (show: RowFilter | undefined) => void;
}

/** Chooses which rows are shown, with how many there are of each. */
const RowFilters = ({ rows, show, single, onShow }: RowFiltersProps) => {
  const counts = useMemo(
    () => rowFilters.map((filter) => rows.filter(({ row, change }) => isShown(row, change, filter)).length),
    [rows],
  );
  const offered = rowFilters.flatMap((filter, at) =>
    single && filter !== 'failed'
      ? []
      : [[filter, `${filterTitles[filter]} ${countText(counts[at] ?? 0)}`] as const],
  );
  const all = [undefined, `All ${countText(rows.length)}`] as const;
  return <Segments legend="Rows" value={show} options={[all, ...offered]} onChange={onShow} />;
};

/** By which measures rows are sorted: one, or all scores. */
const sortedBy = (measures: readonly Measure[], sort: string | undefined): readonly Measure[] => {
  const chosen = measures.filter(({ id }) => id === sort);
  if (chosen.length > 0) return chosen;
  const scores = measures.filter(({ kind }) => kind === 'score');
  return scores.length > 0 ? scores : measures;
};

const noIds: readonly string[] = [];

/** The rows of evaluations with all that is known of them, as far as it is there. */
const useComparison = ({ project, runs: runIds = noIds, sort, less = noIds }: EvaluationSearch) => {
  const ids = useMemo(() => runIds.slice(0, maxRuns), [runIds]);
  const query = useRuns(project, ids);
  const running = query.data?.filter(isRunning).map(({ id }) => id) ?? noIds;
  const { parts, error, retry } = useRunRows(project, ids, running);
  const isComplete = parts.every((part) => part?.complete);
  const isBegun = parts.every((part) => part !== undefined);
  const traces = new Map(query.data?.map(({ id, trace }) => [id, trace]));
  const figures = useRowFigures(
    project,
    ids.map((id, at) => ({ trace: traces.get(id) ?? '', rows: parts[at]?.rows ?? [] })),
    isComplete && query.data?.length === ids.length,
  );
  const verdicts = useVerdicts(project, ids, isComplete);
  const joined = useMemo(() => {
    if (!isBegun) return undefined;
    const runs = parts.map((part, run) =>
      (part?.rows ?? []).map((row) => ({
        ...row,
        scores: withVerdicts(row.scores, verdicts[run]?.get(row.id)),
      })),
    );
    return joinRuns(runs, figures);
  }, [isBegun, parts, figures, verdicts]);
  const measures = useMemo(() => (joined ? findMeasures(joined, less) : []), [joined, less]);
  const placed = useMemo(() => {
    const changes = computeChanges(joined ?? [], sortedBy(measures, sort));
    const rows = joined?.map((row, at): Placed => ({ row, place: at + 1, change: changes[at] })) ?? [];
    return sort === 'none' ? rows : worstFirst(rows);
  }, [joined, measures, sort]);
  return { ids, query, error, retry, isComplete, isBegun, joined, measures, placed };
};

/** One evaluation with its rows, or up to six beside each other. */
export const EvaluationView = () => {
  const search = route.useSearch();
  const { project, sort, show, less = noIds, row, runs: runIds = noIds } = search;
  const change = useChange<EvaluationSearch>(route.useNavigate());
  const { ids, query, error, retry, isComplete, isBegun, joined, measures, placed } = useComparison(search);
  const runs = query.data ?? [];
  const unfinished = runs.flatMap(({ id, status, isPages }) => (isPages && status === 'running' ? [id] : []));
  const single = ids.length === 1;
  const rows = useDeferredValue(
    useMemo(
      () => (show ? placed.filter((placedRow) => isShown(placedRow.row, placedRow.change, show)) : placed),
      [placed, show],
    ),
  );
  const partly = placed.filter(({ row: { cells } }) => cells.some((cell) => cell === undefined)).length;
  const toAll = (
    <Link to="/evaluations" search={{ project }}>
      All evaluations
    </Link>
  );
  const isThere = query.data !== undefined && runs.length === ids.length;
  return (
    <View
      title={single ? (runs[0]?.name ?? 'Evaluation') : `Compare ${ids.length} evaluations`}
      actions={
        <>
          {unfinished.length > 0 ? (
            <Link to="/evaluate" search={{ project, runs: unfinished }} className="button primary">
              See how far it is
            </Link>
          ) : null}
          <Link
            to="/evaluations"
            search={{ project, ...(ids.length > 0 && { runs: ids }) }}
            className="button plain"
          >
            {single ? 'Compare with others' : 'Choose others'}
          </Link>
        </>
      }
    >
      <QueryStatus queries={[query]} loading="Reading the evaluations…" />
      {ids.length === 0 ? (
        <Notice kind="info" action={toAll}>
          Choose evaluations in the list.
        </Notice>
      ) : null}
      {query.data && !isThere ? (
        <Notice kind="error" action={toAll}>
          {countedText(ids.length - runs.length, 'evaluation')} of this link cannot be found: deleted, or the
          link is cut off.
        </Notice>
      ) : null}
      {runIds.length > maxRuns ? (
        <Notice kind="info">The first {maxRuns} evaluations are compared.</Notice>
      ) : null}
      {isThere && runs.length > 0 ? (
        <MeansTable
          project={project}
          runs={runs}
          rows={isComplete ? joined : undefined}
          measures={measures}
          onRuns={(next) => change({ runs: next(ids), row: undefined })}
          onLess={({ id }) => {
            const next = less.includes(id) ? less.filter((other) => other !== id) : [...less, id];
            change({ less: next.length > 0 ? next : undefined });
          }}
        />
      ) : null}
      <Failure error={error} onRetry={retry} />
      {isThere && joined ? (
        <>
          <div className="toolbar">
            <Choice
              className="compared"
              label={single ? 'Worst first by' : 'Worst changes first by'}
              value={sort ?? ''}
              options={[
                ['', 'any score'],
                ...measures.map(({ id, title }) => [id, title] as const),
                ['none', 'nothing, in order'],
              ]}
              onChange={(next) => change({ sort: next || undefined })}
            />
            <RowFilters
              rows={placed}
              show={show}
              single={single}
              onShow={(next) => change({ show: next, row: undefined })}
            />
            <span className="muted" role="status">
              {isComplete
                ? partly > 0
                  ? `${countedText(partly, 'row')} ${partly === 1 ? 'is' : 'are'} not in all of them`
                  : ''
                : `${countText(placed.length)} rows so far…`}
            </span>
          </div>
          {rows.length > 0 ? (
            <RowList
              project={project}
              runs={runs}
              rows={rows}
              measures={measures}
              open={row}
              onOpen={(id) => change({ row: id })}
            />
          ) : (
            <p className="muted">No rows match.</p>
          )}
        </>
      ) : null}
      {isThere && !isBegun && !error ? <p className="muted">Reading rows…</p> : null}
      {isThere && isComplete && joined?.length === 0 ? <Notice kind="info">It has no rows.</Notice> : null}
    </View>
  );
};
