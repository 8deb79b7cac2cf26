import { getRouteApi, Link } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { wordsOf } from '../../api/errors.ts';
import type { Call } from '../../api/types.ts';
import { allows } from '../../session/grants.ts';
import { useSession } from '../../session/session.tsx';
import { Button } from '../../ui/button.tsx';
import { Notice } from '../../ui/notice.tsx';
import { AnswerPane } from './answer-pane.tsx';
import { RequestPane } from './request-pane.tsx';
import { useOriginal, useTrial } from './use-trial.ts';

const route = getRouteApi('/playground');

/** What the key lacks, in words; undefined if it may send requests that are recorded. */
const lackOf = (me: Parameters<typeof allows>[0], project: string): string | undefined => {
  const missing = (['inference', 'write'] as const).filter((role) => !allows(me, project, role));
  return missing.length === 0 ? undefined : missing.join(' and ');
};

const Desk = ({ project, original }: { project: string; original: Call | undefined }) => {
  const { me } = useSession();
  const { trial, state, reset } = useTrial(project, original);
  const lack = lackOf(me, project);
  const answer = useRef<HTMLDivElement>(null);
  const { phase } = state;
  // On a narrow screen the answer is below the request.
  useEffect(() => {
    if (phase === 'sending') answer.current?.scrollIntoView({ block: 'nearest' });
  }, [phase]);
  return (
    <>
      {lack ? (
        <Notice kind="error">
          This key cannot send requests: it lacks the role {lack} on {project}. Sign in with one that{' '}
          <code>npm run keys</code> made with{' '}
          <code>
            --grant {project}:inference --grant {project}:write
          </code>
          .
        </Notice>
      ) : null}
      <div className="desk">
        <RequestPane trial={trial} state={state} allowed={lack === undefined} onReset={reset} />
        <div ref={answer} className="answer-pane">
          <AnswerPane trial={trial} state={state} project={project} original={original} />
        </div>
      </div>
    </>
  );
};

/** A model call to change and send again, or a new one. */
export const PlaygroundView = () => {
  const search = route.useSearch();
  const { project, call } = search;
  const { data: original, error, isPending, refetch } = useOriginal(search);
  const waits = call !== undefined && isPending;
  return (
    <main className="playground">
      <h1>Playground</h1>
      <p className="muted">
        {original ? (
          <>
            Begun with{' '}
            <Link to="/trace" search={{ project, trace: original.trace_id, call: original.id }}>
              a recorded call
            </Link>
            . What you send is recorded in {project}, too.
          </>
        ) : (
          <>What you send is recorded in {project}. Open a model call to begin with its messages.</>
        )}
      </p>
      {error ? (
        <Notice kind="error" action={<Button onClick={() => refetch()}>Try again</Button>}>
          {wordsOf(error)}
        </Notice>
      ) : null}
      {waits && !error ? <p className="muted">Loading the call…</p> : null}
      {original === null ? (
        <Notice kind="error">
          This call is not there any more: it was deleted. Begin with an empty request.
        </Notice>
      ) : null}
      {waits ? null : <Desk key={original?.id ?? ''} project={project} original={original ?? undefined} />}
    </main>
  );
};
