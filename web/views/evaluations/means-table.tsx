import { Link } from '@tanstack/react-router';
import { useEffect, useMemo, useState } from 'react';
import { StatusBadge } from '../../calls/badges.tsx';
import { useCostText } from '../../calls/prices.ts';
import { countedText, countText } from '../../data/format.ts';
import { Button, Moment } from '../../ui/controls.tsx';
import { type Chance, computeChance, fewestRows } from './bootstrap.ts';
import type { Run } from './data.ts';
import { differencesIn, type JoinedRow, type Measure, meanIn } from './join.ts';
import { drawsText, meanText, meanTitle, signedText, toVerdict } from './words.ts';

/** How people tell the evaluations of a comparison apart. */
export const toLetter = (run: number): string => String.fromCharCode(65 + run);

interface Drawn {
  readonly differences: readonly number[];
  readonly chance: Chance | undefined;
}

/** What drawing says of differences. It takes some ms for each, and holds nothing else up. */
const useChance = (differences: readonly number[]): Chance | undefined => {
  const [drawn, setDrawn] = useState<Drawn>();
  // Rows are joined anew once their costs are known, and have the same scores.
  const isDrawn =
    drawn?.differences.length === differences.length &&
    drawn.differences.every((value, at) => value === differences[at]);
  useEffect(() => {
    if (isDrawn) return;
    const timer = setTimeout(() => setDrawn({ differences, chance: computeChance(differences) }));
    return () => clearTimeout(timer);
  }, [isDrawn, differences]);
  return isDrawn ? drawn.chance : undefined;
};

interface DifferenceProps {
  readonly differences: readonly number[];
  readonly measure: Measure;
  readonly text: (value: number) => string;
}

/** The difference of a mean, and whether it could be chance. */
const Difference = ({ differences, measure, text }: DifferenceProps) => {
  const chance = useChance(differences);
  if (differences.length === 0) return <span className="hint">no row has it in both</span>;
  const mean = differences.reduce((sum, difference) => sum + difference, 0) / differences.length;
  const tone = Math.abs(mean) < 1e-12 ? 'muted' : mean < 0 === measure.less ? 'better' : 'worse';
  const verdict = chance && toVerdict(chance);
  return (
    <span className="difference">
      <span className={verdict?.isChance === false ? tone : 'muted'}>
        <strong>{signedText(mean, text)}</strong>
        <span className="hidden"> {tone === 'muted' ? '' : tone}</span>
        {verdict && chance.difference !== 0 ? ` · ${verdict.words}` : ''}
      </span>
      <span className="hint">
        {chance ? drawsText(chance, text) : ''}
        {differences.length < fewestRows
          ? `${countedText(differences.length, 'row')} are too few to tell`
          : ''}
      </span>
    </span>
  );
};

interface CellProps {
  readonly rows: readonly JoinedRow[];
  readonly run: number;
  readonly measure: Measure;
  readonly text: (value: number) => string;
}

const MeanCell = ({ rows, run, measure, text }: CellProps) => {
  const { mean, count } = useMemo(() => meanIn(rows, run, measure), [rows, run, measure]);
  const differences = useMemo(() => differencesIn(rows, run, measure), [rows, run, measure]);
  const all = useMemo(() => rows.filter(({ cells }) => cells[run]).length, [rows, run]);
  if (mean === undefined) return <span className="muted">–</span>;
  return (
    <>
      <strong className="mean">{text(mean)}</strong>{' '}
      {count < all ? <span className="hint">of {countedText(count, 'row')} with it</span> : null}
      {run > 0 ? <Difference differences={differences} measure={measure} text={text} /> : null}
    </>
  );
};

interface HeadProps {
  readonly project: string;
  readonly run: Run;
  readonly at: number;
  readonly count: number;
  readonly rows: readonly JoinedRow[] | undefined;
  readonly onRuns: (change: (ids: readonly string[]) => readonly string[]) => void;
}

/** An evaluation of a comparison, and what can be done with it. */
const RunHead = ({ project, run, at, count, rows, onRuns }: HeadProps) => {
  const cells = rows?.flatMap(({ cells: rowCells }) => rowCells[at] ?? []);
  const failed = cells?.filter((cell) => cell.failed).length ?? 0;
  return (
    <div className="run-head">
      <span>
        {count > 1 ? <span className="run-letter">{toLetter(at)}</span> : null}{' '}
        <strong dir="auto">{run.model?.name ?? run.name}</strong>{' '}
        {run.model?.version ? <span className="hint">{run.model.version}</span> : null}{' '}
        {count > 1 && at === 0 ? <span className="badge running">baseline</span> : null}
        {run.status === 'success' ? null : <StatusBadge status={run.status} />}
      </span>
      <span className="hint" dir="auto">
        {run.name}
        {run.dataset ? ` · ${run.dataset.name} ${run.dataset.version ?? ''}` : ''} ·{' '}
        <Moment time={run.startedAt} />
      </span>
      <span className="hint">
        {cells ? countedText(cells.length, 'row') : ''}
        {failed > 0 ? <span className="error-text"> · {countText(failed)} failed</span> : null}
      </span>
      <span className="links">
        <Link to="/trace" search={{ project, trace: run.trace, call: run.id }}>
          Trace
        </Link>
        {count > 1 && at > 0 ? (
          <button
            type="button"
            className="as-link"
            onClick={() => onRuns((ids) => [run.id, ...ids.filter((id) => id !== run.id)])}
          >
            Use as baseline
          </button>
        ) : null}
        {count > 1 ? (
          <button
            type="button"
            className="as-link"
            onClick={() => onRuns((ids) => ids.filter((id) => id !== run.id))}
          >
            Leave out
          </button>
        ) : null}
      </span>
    </div>
  );
};

interface MeansTableProps {
  readonly project: string;
  readonly runs: readonly Run[];
  /** Undefined until all rows are there. */
  readonly rows: readonly JoinedRow[] | undefined;
  readonly measures: readonly Measure[];
  readonly onRuns: HeadProps['onRuns'];
  /** Changes whether less of a score is better. */
  readonly onLess: (measure: Measure) => void;
}

/** The means of evaluations beside each other, and whether their differences could be chance. */
export const MeansTable = ({ project, runs, rows, measures, onRuns, onLess }: MeansTableProps) => {
  const costText = useCostText(project);
  return (
    <>
      <div className="scroll-x">
        <table className="plain-table wide means">
          <thead>
            <tr>
              <th scope="col">Mean</th>
              {runs.map((run, at) => (
                <th key={run.id} scope="col">
                  <RunHead
                    project={project}
                    run={run}
                    at={at}
                    count={runs.length}
                    rows={rows}
                    onRuns={onRuns}
                  />
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {measures.map((measure) => (
              <tr key={measure.id}>
                <th scope="row" dir="auto">
                  {meanTitle(measure)}
                  {measure.kind === 'score' ? (
                    <Button
                      kind="quiet"
                      className="small"
                      aria-label={`${measure.title}: ${measure.less ? 'less' : 'more'} is better. Change that`}
                      title="Change what is better"
                      onClick={() => onLess(measure)}
                    >
                      {measure.less ? '↓ is better' : '↑ is better'}
                    </Button>
                  ) : null}
                </th>
                {runs.map((run, at) => (
                  <td key={run.id} data-letter={runs.length > 2 ? toLetter(at) : undefined}>
                    {rows ? (
                      <MeanCell rows={rows} run={at} measure={measure} text={meanText(measure, costText)} />
                    ) : (
                      '…'
                    )}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {runs.length > 1 ? (
        <p className="hint">
          Differences are computed over the rows that both evaluations have. We resample these rows with
          repetition, up to 2,000 times (paired bootstrap). A difference could be chance if more than 2.5 % of
          the draws do not show it. The more differences somebody looks at, the more of them look real by
          chance.
        </p>
      ) : null}
    </>
  );
};
