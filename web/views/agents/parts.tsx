import type { UseQueryResult } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { type CallRow, getDuration } from '../../api/calls.ts';
import { CallLink } from '../../calls/call-link.tsx';
import { errorRate, percentText } from '../../calls/figures/figures.ts';
import { maxRead, type usePeriod } from '../../calls/figures/read.ts';
import { SourceMenu } from '../../calls/filters/source-menu.tsx';
import { TimeMenu } from '../../calls/filters/time-menu.tsx';
import { countedText, countText, latencyText, waitText } from '../../data/format.ts';
import { type AgentsSearch, type Changes, changed, type IssuesSearch } from '../../navigation/search.ts';
import { useTitle, viewNames } from '../../navigation/title.ts';
import {
  Failure,
  Moment,
  Notice,
  QueryStatus,
  RefreshButton,
  SearchBox,
  Skeleton,
} from '../../ui/controls.tsx';
import { HeadTools, View } from '../../ui/view.tsx';
import { sampledErrors } from './data.ts';
import type { CommonError } from './errors.ts';
import type { UsedFigures } from './figures.ts';

/* What the views of agents and of tools share. */

/** Says why there are no figures. */
const TooMany = ({ count, what }: { readonly count: number; readonly what: string }) => (
  <Notice kind="info">
    {countedText(count, 'call')} began in this time and the one before it. Figures of {what} are counted from
    the calls themselves, up to {countText(maxRead)} of them. Choose a shorter time.
  </Notice>
);

type FrameSearch = Pick<AgentsSearch, 'source' | 'text' | 'range' | 'from' | 'to'>;

interface FiguresFrameProps extends Pick<ReturnType<typeof usePeriod>, 'span' | 'refresh'> {
  readonly what: 'agents' | 'tools';
  /** The one that is shown; undefined for the list of all. */
  readonly shown: string | undefined;
  readonly search: FrameSearch;
  readonly change: (changes: Changes<FrameSearch>) => unknown;
  /** How many calls there are, if they are too many to count. */
  readonly tooMany: number | undefined;
  readonly error: Error | null | undefined;
  readonly onRetry: () => unknown;
  readonly children: ReactNode;
}

/** The frame of both views: title, filters and time, and what went wrong. */
export const FiguresFrame = (props: FiguresFrameProps) => {
  const { what, shown, search, span, refresh, change, tooMany, error, onRetry, children } = props;
  useTitle(shown);
  return (
    <View
      title={shown ?? viewNames[what]}
      actions={<RefreshButton onClick={refresh} />}
      toolbar={
        <>
          {shown === undefined ? (
            <SearchBox
              label={`Search ${what}`}
              text={search.text ?? ''}
              onText={(next) => change({ text: next || undefined })}
            />
          ) : null}
          <SourceMenu source={search.source} onChange={(next) => change({ source: next })} />
        </>
      }
    >
      <HeadTools>
        <TimeMenu span={span} onChange={({ range, from, to }) => change({ range, from, to })} />
      </HeadTools>
      <Failure error={error} onRetry={onRetry} />
      {tooMany === undefined ? null : <TooMany count={tooMany} what={what} />}
      {children}
    </View>
  );
};

/** How many calls failed, and which share; nothing for none, so that cards leave it out. */
export const errorsCell = (figures: UsedFigures): ReactNode =>
  figures.errors === 0 ? null : (
    <span className="error-text">
      {countText(figures.errors)} · {percentText(errorRate(figures))}
    </span>
  );

/** How often somebody was waited for; nothing for never. */
export const waitsCell = ({ waits, waitedMs }: UsedFigures): ReactNode =>
  waits === 0 ? null : <span title={waitText(waitedMs)}>{countText(waits)}</span>;

interface IssuesOfProps {
  readonly search: AgentsSearch;
  readonly agent: string;
  /** @default - a word for them */
  readonly count?: number;
}

/** Leads to the loops of an agent, among the issues of the time. */
export const IssuesOf = ({ search, agent, count }: IssuesOfProps) => {
  const { project, range, from, to } = search;
  const time = from ? { from, to } : { range };
  return (
    <Link
      to="/issues"
      search={changed<IssuesSearch>({ project, kind: 'loop', tab: 'all', agent }, time)}
      className={count === undefined ? undefined : 'cell-link warning-text'}
      aria-label={count === undefined ? undefined : countedText(count, 'loop')}
    >
      {count === undefined ? 'Issues' : countText(count)}
    </Link>
  );
};

/** How often an agent went in circles: never, too, so that nothing moves once it is known. @param loops by agent; undefined until they are known */
export const loopsCell = (
  search: AgentsSearch,
  agent: string,
  loops: ReadonlyMap<string, number> | undefined,
): ReactNode => {
  if (!loops) return <span className="muted">…</span>;
  const count = loops.get(agent) ?? 0;
  return count === 0 ? (
    <span className="muted">0</span>
  ) : (
    <IssuesOf search={search} agent={agent} count={count} />
  );
};

interface CallsProps {
  readonly title: string;
  readonly query: UseQueryResult<readonly CallRow[]>;
  /** What is said of each at its end. @default - how long it took */
  readonly getFact?: (call: CallRow) => string;
  /** What they are of. @default - all calls of the time */
  readonly hint?: ReactNode;
}

/** A few calls with what they were about. */
export const Calls = ({ title, query, getFact, hint }: CallsProps) => (
  <section className="card agent-calls" aria-label={title}>
    <h2>{title}</h2>
    <QueryStatus queries={[query]} />
    {query.data ? null : query.error ? null : <Skeleton label="" rows={5} />}
    {query.data?.length === 0 ? <p className="muted">None in this time.</p> : null}
    <ol>
      {query.data?.map((call) => (
        <li key={call.id}>
          <CallLink call={call} />
          <span className="numeric">{getFact ? getFact(call) : latencyText(getDuration(call))}</span>
          <span className="muted">
            <Moment time={call.started_at} />
          </span>
        </li>
      ))}
    </ol>
    {hint ? <p className="hint">{hint}</p> : null}
  </section>
);

/** How many errors are shown. */
const shownErrors = 8;

interface ErrorsProps {
  readonly query: UseQueryResult<readonly CommonError[]>;
  /** What they are of. @default - all failures of the time */
  readonly hint?: string | undefined;
}

/** What failures have in common, each with the latest call. */
export const Errors = ({ query, hint }: ErrorsProps) => {
  const { data } = query;
  const sum = data?.reduce((all, { count }) => all + count, 0) ?? 0;
  return (
    <section className="card agent-calls" aria-label="Most common errors">
      <h2>Most common errors</h2>
      <QueryStatus queries={[query]} />
      {data ? null : query.error ? null : <Skeleton label="" rows={5} />}
      {data?.length === 0 ? <p className="muted">Nothing failed in this time.</p> : null}
      <ol>
        {data?.slice(0, shownErrors).map(({ name, message, count, latest }) => (
          <li key={latest.id}>
            <span className="call-link">
              <Link
                to="/trace"
                search={{ project: latest.project_id, trace: latest.trace_id, call: latest.id, tab: 'error' }}
                dir="auto"
              >
                {message || 'no message'}
              </Link>
              <span className="muted" dir="auto">
                {name}
              </span>
            </span>
            <span className="numeric error-text">{countText(count)}</span>
            <span className="muted">
              <Moment time={latest.started_at} />
            </span>
          </li>
        ))}
      </ol>
      {sum >= sampledErrors ? <p className="hint">Of the latest {countText(sampledErrors)}.</p> : null}
      {hint ? <p className="hint">{hint}</p> : null}
    </section>
  );
};
