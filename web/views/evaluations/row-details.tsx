import { Link } from '@tanstack/react-router';
import { type ReactNode, useMemo, useState } from 'react';
import { type CallRow, getStatus, opText } from '../../api/calls.ts';
import { getFeedback } from '../../api/feedback.ts';
import { AddDialog, AddToDataset } from '../../calls/datasets/add-dialog.tsx';
import type { RowValues } from '../../calls/datasets/add-to-dataset.tsx';
import { useCostText } from '../../calls/prices.ts';
import { isObject } from '../../data/values.ts';
import { useAllowed } from '../../session/session.tsx';
import { Button, QueryStatus } from '../../ui/controls.tsx';
import { valueText } from '../../ui/diff.ts';
import { SideBySide } from '../../ui/diff-view.tsx';
import { LongText, Markdown } from '../../ui/text.tsx';
import { outputIn, type Run, useRowCalls } from './data.ts';
import type { JoinedRow, Measure } from './join.ts';
import { toLetter } from './means-table.tsx';
import { isScorer, reasonIn, scoresIn, splitExample, verdictsIn } from './scores.ts';
import { getText, scoreText } from './words.ts';

/** The most trials of a row whose calls are read. */
const maxTrials = 60;

const firstLine = (text: string): string => text.split('\n', 1)[0] ?? '';

/** A score or a verdict of a row: what was said, and why. */
interface Said {
  readonly value: string;
  readonly reason: string | undefined;
}

/** Why a score is what it is: what its scorer says, or what it failed with. */
const findReason = (score: string, below: readonly CallRow[]): string | undefined => {
  const scorer = below.find(({ op_name }) => isScorer(opText(op_name), score));
  return reasonIn(scorer?.output) ?? (scorer?.exception ? firstLine(scorer.exception) : undefined);
};

/** A value as the means count it: 1 and 0 for true and false. */
const saidText = (value: unknown): string => {
  if (typeof value === 'number' || typeof value === 'boolean') return scoreText(Number(value));
  return typeof value === 'string' ? value : JSON.stringify(value);
};

/** The call of a trial, with those below it. */
interface Trial {
  readonly call: CallRow;
  readonly below: readonly CallRow[];
}

/** All that was said of a trial, by names: scores, labels, and verdicts of evaluators. */
const collectResults = ({ call, below }: Trial): ReadonlyMap<string, Said> => {
  const output = isObject(call.output) ? call.output : {};
  const { numbers, texts } = scoresIn(output.scores);
  const all = [...numbers, ...texts].map(([name, value]): [string, Said] => {
    const own = texts.get(name) === undefined ? texts.get(`${name}.reason`) : undefined;
    return [name, { value: saidText(value), reason: own ?? findReason(name, below) }];
  });
  const verdicts = [...verdictsIn([...below, call].flatMap(getFeedback))].map(
    ([name, { value, reason }]): [string, Said] => [
      name,
      { value: value === undefined ? 'none' : saidText(value), reason },
    ],
  );
  return new Map([...verdicts, ...all]);
};

const outputText = ({ call }: Trial): string => {
  const output = outputIn(call.output);
  return output === undefined ? '' : valueText(output);
};

/** What went wrong in a trial. */
const findFailures = ({ call, below }: Trial): string[] =>
  [call, ...below]
    .filter((failing) => getStatus(failing) === 'error')
    .map(({ op_name, exception }) => `${opText(op_name)} failed: ${firstLine(exception ?? '')}`);

interface TrialLinksProps {
  readonly project: string;
  readonly trial: Trial;
  readonly onAdd: (() => void) | undefined;
}

const TrialLinks = ({ project, trial: { call }, onAdd }: TrialLinksProps) => (
  <span className="links">
    <Link to="/trace" search={{ project, trace: call.trace_id, call: call.id }}>
      Trace
    </Link>
    <Link to="/trace" search={{ project, trace: call.trace_id, call: call.id, as: 'story' }}>
      Story
    </Link>
    {onAdd ? (
      <button type="button" className="as-link" onClick={onAdd}>
        Add to dataset
      </button>
    ) : null}
  </span>
);

/** The outputs of evaluations beside each other. Two are compared word by word. */
const Outputs = ({ sides }: { sides: readonly (readonly Trial[])[] }) => {
  const [one, other] = sides.map((trials) => trials[0] && outputText(trials[0]));
  const isPair = sides.length === 2 && sides.every(({ length }) => length === 1);
  if (isPair && one !== undefined && other !== undefined && one !== other)
    return <SideBySide one={one} other={other} label="Differences of the outputs" prose />;
  return (
    <div className="run-sides">
      {sides.map((trials, at) => (
        <div key={at} className="stack">
          {trials.length === 0 ? <p className="muted">not in this evaluation</p> : null}
          {trials.map((trial) => (
            <div key={trial.call.id} className="card">
              <Markdown text={outputText(trial) || 'no output'} />
            </div>
          ))}
        </div>
      ))}
    </div>
  );
};

interface SaidTableProps {
  readonly runs: readonly Run[];
  readonly sides: readonly (readonly Trial[])[];
}

/** Every score of a row in each evaluation, with its reason. */
const SaidTable = ({ runs, sides }: SaidTableProps) => {
  const resultsBySide = useMemo(() => sides.map((trials) => trials.map(collectResults)), [sides]);
  const names = [...new Set(resultsBySide.flat().flatMap((results) => [...results.keys()]))];
  if (names.length === 0) return <p className="muted">No scores.</p>;
  return (
    <div className="scroll-x">
      <table className="plain-table wide means">
        <thead>
          <tr>
            <th scope="col">Score</th>
            {runs.map((run, at) => (
              <th key={run.id} scope="col">
                {runs.length > 1 ? toLetter(at) : 'Value'}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {names.map((name) => (
            <tr key={name}>
              <th scope="row" dir="auto">
                {name}
              </th>
              {resultsBySide.map((trials, at) => (
                <td key={at} dir="auto">
                  {trials.map((results, trial) => {
                    const { value, reason } = results.get(name) ?? {};
                    return (
                      <div key={trial}>
                        <strong>{value ?? '–'}</strong>{' '}
                        {reason ? (
                          <span className="hint">
                            <LongText text={reason} />
                          </span>
                        ) : null}
                      </div>
                    );
                  })}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
};

const getExample = ({ inputs }: CallRow): unknown =>
  isObject(inputs) ? (inputs as { readonly example?: unknown }).example : undefined;

interface RowDetailsProps {
  readonly project: string;
  readonly runs: readonly Run[];
  readonly row: JoinedRow;
  readonly measures: readonly Measure[];
}

/** A row as a whole: its example, and what each evaluation made of it and why. */
export const RowDetails = ({ project, runs, row, measures }: RowDetailsProps) => {
  const mayAdd = useAllowed(project, 'write');
  const costText = useCostText(project);
  const [added, setAdded] = useState<CallRow>();
  const ids = row.cells.flatMap((cell) => cell?.trials.map(({ id }) => id) ?? []).slice(0, maxTrials);
  const query = useRowCalls(project, ids);
  const sides = useMemo(() => {
    const calls = new Map(query.data?.rows.map((call) => [call.id, call]));
    const below = Map.groupBy(query.data?.below ?? [], ({ parent_id }) => parent_id);
    return row.cells.map((cell) =>
      (cell?.trials ?? []).flatMap(({ id }): Trial[] => {
        const call = calls.get(id);
        return call ? [{ call, below: below.get(id) ?? [] }] : [];
      }),
    );
  }, [query.data, row]);
  const parts = useMemo((): RowValues => {
    const ofCall = (call: CallRow) => {
      const { inputs, expected = outputIn(call.output) ?? null } = splitExample(getExample(call));
      return { inputs, expected };
    };
    return new Map(query.data?.rows.map((call) => [call.id, ofCall(call)]));
  }, [query.data]);
  if (!query.data)
    return (
      <div className="row-details">
        <QueryStatus queries={[query]} loading="Reading the row…" />
      </div>
    );
  const first = query.data.rows.find(({ id }) => id === row.first.id);
  const { inputs, expected } = splitExample(first && getExample(first));
  const [left, right] = sides.map((trials) => trials[0]?.call.id);
  const facts: readonly (readonly [string, unknown])[] = [
    ['Example', inputs],
    ['Expected', expected],
  ];
  return (
    <section className="row-details stack" aria-label="The row">
      <div className="run-sides">
        {facts
          .filter(([, value]) => value !== undefined)
          .map(([title, value]) => (
            <div key={title} className="stack">
              <h2>{title}</h2>
              <LongText text={valueText(value)} />
            </div>
          ))}
      </div>
      <h2>Output</h2>
      <div className="run-sides">
        {runs.map((run, at) => {
          const cell = row.cells[at];
          const taken = measures
            .filter(({ kind }) => kind !== 'score')
            .flatMap((measure): ReactNode => {
              const value = cell && measure.read(cell);
              const text = value === undefined ? undefined : getText(measure, costText)(value);
              return text === undefined ? [] : <span key={measure.id}>{text}</span>;
            });
          return (
            <div key={run.id} className="run-head">
              <span className="facts">
                {runs.length > 1 ? <span className="run-letter">{toLetter(at)}</span> : null}
                {taken}
              </span>
              {sides[at]?.map((trial, n) => (
                <span key={trial.call.id} className="facts">
                  {(sides[at]?.length ?? 0) > 1 ? <span>Trial {n + 1}</span> : null}
                  <TrialLinks
                    project={project}
                    trial={trial}
                    onAdd={mayAdd ? () => setAdded(trial.call) : undefined}
                  />
                </span>
              ))}
              {[...new Set(sides[at]?.flatMap(findFailures))].map((failure) => (
                <span key={failure} className="error-text break">
                  {failure}
                </span>
              ))}
            </div>
          );
        })}
      </div>
      <Outputs sides={sides} />
      <h2>Scores</h2>
      <SaidTable runs={runs} sides={sides} />
      {runs.length === 2 && left && right ? (
        <p>
          <Link to="/compare" search={{ project, left, right }}>
            Compare the two calls step by step
          </Link>
        </p>
      ) : null}
      <AddDialog open={added !== undefined} onClose={() => setAdded(undefined)}>
        {added ? <AddToDataset project={project} calls={[added.id]} parts={parts} /> : null}
        <div className="row-end">
          <Button onClick={() => setAdded(undefined)}>Close</Button>
        </div>
      </AddDialog>
    </section>
  );
};
