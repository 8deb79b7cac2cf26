import { useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useEffect } from 'react';
import { countText } from '../../data/format.ts';
import { useChange } from '../../navigation/change.ts';
import type { EvaluateSearch } from '../../navigation/search.ts';
import { useTitle } from '../../navigation/title.ts';
import { useKeeper, useKeptStore } from '../../session/kept.ts';
import { readAgain, useAllowed, useSession } from '../../session/session.tsx';
import { Button, Notice, ScrollTable, Skeleton, type TableColumn } from '../../ui/controls.tsx';
import { View } from '../../ui/view.tsx';
import { EvaluateForm } from './evaluate-form.tsx';
import { EvaluationRun, isBusy, type Part, type RunState } from './run.ts';
import { scoreText } from './words.ts';

const route = getRouteApi('/evaluate');

/** What keeps a run, so that it goes on while its reader is elsewhere in the page. */
const runKey = (project: string, runs: readonly string[]) => ['evaluation run', project, ...runs] as const;

/** Makes what runs evaluations, until its reader signs out. */
const useMakeRun = (project: string) => {
  const { client } = useSession();
  const keeper = useKeeper();
  return (runs: readonly string[]): EvaluationRun => {
    const run: EvaluationRun = new EvaluationRun(client, project, runs, {
      isWanted: () => keeper.get(runKey(project, runs)) === run,
    });
    return run;
  };
};

/** How far an evaluation is, in words. */
const Progress = ({ title, rows, done, judging, failed, failure }: Part) => (
  <div className="run-progress">
    <progress aria-label={`Rows of ${title}`} max={Math.max(1, rows)} value={done} />
    <span className="numeric">
      {countText(done)} of {countText(rows)}
    </span>
    {judging > 0 ? <span className="muted">{countText(judging)} being judged</span> : null}
    {failed > 0 ? (
      <span className="error-text" title={failure}>
        {countText(failed)} failed
      </span>
    ) : null}
  </div>
);

const makeColumns = (project: string, parts: readonly Part[]): readonly TableColumn<Part>[] => {
  const scores = [...new Set(parts.flatMap(({ means }) => [...means.keys()]))];
  return [
    {
      title: 'Evaluation',
      className: 'break',
      cell: ({ id, title }) => (
        <Link to="/evaluation" search={{ project, runs: [id] }}>
          {title}
        </Link>
      ),
    },
    { title: 'Rows', cell: (part) => <Progress {...part} /> },
    ...scores.map(
      (score): TableColumn<Part> => ({
        title: `Mean ${score}`,
        className: 'numeric',
        cell: ({ means }) => {
          const mean = means.get(score);
          return mean === undefined ? null : scoreText(mean);
        },
      }),
    ),
  ];
};

const describe = ({ phase }: RunState): string =>
  ({
    reading: 'Looking how far it is…',
    running: 'Running. It goes on while you look elsewhere in this tab.',
    stopping: 'Stopping: answers that are on their way are still taken.',
    stopped: 'Stopped. What was answered is kept, and nothing of it is asked again.',
    done: 'Done.',
  })[phase];

/** Evaluations on their way. */
const Running = ({ runs }: { runs: readonly string[] }) => {
  const { project } = route.useSearch();
  const cache = useQueryClient();
  const make = useMakeRun(project);
  const { kept, state } = useKeptStore(runKey(project, runs), () => make(runs));
  const { phase, parts, reason } = state;
  const mayWrite = useAllowed(project, 'write');
  const mayRun = useAllowed(project, 'inference') && mayWrite;
  useEffect(() => {
    // One that was begun or read here is left as it is.
    if (kept.store.getState().parts.length === 0) kept.look();
  }, [kept]);
  useEffect(() => {
    if (phase !== 'done') return;
    readAgain(cache, { predicate: ({ queryKey: [kind] }) => String(kind).startsWith('evaluation') });
  }, [phase, cache]);
  const failures = [...new Set(parts.flatMap(({ failure }) => failure ?? []))];
  return (
    <div className="stack">
      <p role="status">{describe(state)}</p>
      {reason === undefined ? null : <Notice kind="error">{reason}</Notice>}
      {parts.length === 0 && phase === 'reading' ? (
        <Skeleton label="Looking how far it is…" rows={2} />
      ) : null}
      {parts.length > 0 ? (
        <ScrollTable
          label="Evaluations"
          columns={makeColumns(project, parts)}
          rows={parts}
          getKey={({ id }) => id}
        />
      ) : null}
      {failures.map((failure) => (
        <p key={failure} className="hint break">
          A row failed: {failure}
        </p>
      ))}
      <div className="row-end">
        {phase === 'running' || phase === 'stopping' ? (
          <Button idle={phase === 'stopping'} onClick={kept.stop}>
            {phase === 'stopping' ? 'Stopping…' : 'Stop'}
          </Button>
        ) : null}
        {phase === 'stopped' && mayRun ? (
          <Button kind="primary" onClick={kept.start}>
            Continue
          </Button>
        ) : null}
        {parts.length > 0 ? (
          <Link
            to="/evaluation"
            search={{ project, runs }}
            className={`button ${phase === 'done' ? 'primary' : 'plain'}`}
          >
            {runs.length > 1 ? 'Compare' : 'Rows and scores'}
          </Link>
        ) : null}
      </div>
      {isBusy(state) ? (
        <p className="hint">If you close this tab, open this address again, in any browser, and continue.</p>
      ) : null}
    </div>
  );
};

/** A prompt against a dataset: what is to be evaluated, and how far it is. */
export const EvaluateView = () => {
  const { project, runs } = route.useSearch();
  const change = useChange<EvaluateSearch>(route.useNavigate());
  const keeper = useKeeper();
  const make = useMakeRun(project);
  const title = runs ? 'Evaluation run' : 'New evaluation';
  useTitle(title);
  const begin = (ids: readonly string[]) => {
    const run = make(ids);
    keeper.put(runKey(project, ids), run);
    run.start();
    change({ runs: ids });
  };
  return (
    <View
      narrow={!runs}
      title={title}
      actions={
        runs ? (
          <Button kind="quiet" onClick={() => change({ runs: undefined })}>
            Change and run again
          </Button>
        ) : null
      }
    >
      {runs ? <Running key={runs.join()} runs={runs} /> : <EvaluateForm onBegin={begin} />}
    </View>
  );
};
