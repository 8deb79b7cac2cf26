import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { apiUrl, errorText } from '../../api/http.ts';
import { CallLink } from '../../calls/call-link.tsx';
import { AddDialog, AddToDataset } from '../../calls/datasets/add-dialog.tsx';
import { MetricChart } from '../../calls/figures/charts.tsx';
import { usePeople } from '../../calls/figures/people.ts';
import type { Period } from '../../calls/figures/requests.ts';
import { type Span, TimeMenu } from '../../calls/filters/time-menu.tsx';
import { countText } from '../../data/format.ts';
import { changed, type IssuesSearch } from '../../navigation/search.ts';
import { useTitle } from '../../navigation/title.ts';
import { Person, useAllowed, useSession } from '../../session/session.tsx';
import {
  Button,
  CopyButton,
  Moment,
  Notice,
  QueryStatus,
  RefreshButton,
  Skeleton,
} from '../../ui/controls.tsx';
import { Form, Input, TextArea } from '../../ui/fields.tsx';
import { Modal } from '../../ui/popups.tsx';
import { useToast } from '../../ui/toasts.tsx';
import { HeadTools, View } from '../../ui/view.tsx';
import { type IssueChange, useExamples, useIssue, useUpdateIssue } from './data.ts';
import {
  agentText,
  callsOfIssue,
  type Found,
  type Issue,
  pointsOf,
  scoreOfIssue,
  seenText,
  subjectOf,
  watchedBy,
} from './issue.ts';
import { IssueStateBadge, KindBadge } from './parts.tsx';

interface PartProps {
  readonly project: string;
  readonly issue: Issue;
  readonly period: Period;
}

const AssignForm = ({ project, issue, onDone }: PartProps & { readonly onDone: () => void }) => {
  const { me } = useSession();
  const people = usePeople(project, true);
  const [assignee, setAssignee] = useState(issue.assignee ?? '');
  const update = useUpdateIssue(project, issue.issue_id);
  const assign = (next: string) =>
    update.mutate({ assignee: next.trim() || null }, { onSuccess: () => onDone() });
  return (
    <Form className="stack" onSubmit={() => assign(assignee)}>
      <Input
        label="Assignee"
        hint="Who is to look at it; empty for nobody."
        maxLength={256}
        suggestions={people}
        value={assignee}
        onChange={setAssignee}
      />
      {update.error ? <Notice kind="error">Nothing was saved. {errorText(update.error)}</Notice> : null}
      <div className="row-end">
        {issue.assignee === me.user ? null : (
          <Button idle={update.isPending} onClick={() => assign(me.user)}>
            Assign to me
          </Button>
        )}
        <Button kind="primary" type="submit" idle={update.isPending}>
          {assignee.trim() === '' ? 'Assign to nobody' : 'Assign'}
        </Button>
      </div>
    </Form>
  );
};

const Note = ({ project, issue, mayChange }: PartProps & { readonly mayChange: boolean }) => {
  const [draft, setDraft] = useState<string>();
  const update = useUpdateIssue(project, issue.issue_id);
  const save = () => update.mutate({ note: draft?.trim() || null }, { onSuccess: () => setDraft(undefined) });
  return (
    <section className="card stack issue-note" aria-label="Note">
      <h2>Note</h2>
      {draft === undefined ? (
        <>
          {issue.note === null ? (
            <p className="muted">Nobody has noted anything yet.</p>
          ) : (
            <p dir="auto">{issue.note}</p>
          )}
          {mayChange ? (
            <div>
              <Button onClick={() => setDraft(issue.note ?? '')}>
                {issue.note === null ? 'Add a note' : 'Change the note'}
              </Button>
            </div>
          ) : null}
        </>
      ) : (
        <Form className="stack" onSubmit={save}>
          <TextArea
            label="What others should know"
            rows={4}
            maxLength={4000}
            value={draft}
            onChange={setDraft}
          />
          {update.error ? <Notice kind="error">Nothing was saved. {errorText(update.error)}</Notice> : null}
          <div className="row-end">
            <Button onClick={() => setDraft(undefined)}>Cancel</Button>
            <Button kind="primary" type="submit" idle={update.isPending}>
              Save
            </Button>
          </div>
        </Form>
      )}
    </section>
  );
};

/** What can be decided on an issue, by its state. */
const decisions = {
  resolved: { action: 'Resolve', done: 'Resolved. If it is seen again, it has regressed.' },
  ignored: { action: 'Ignore', done: 'Ignored.' },
  open: { action: 'Reopen', done: 'Open again.' },
} as const;

type Decided = keyof typeof decisions;

const decisionsOn = ({ state }: Issue): readonly Decided[] => {
  if (state === 'open') return ['ignored', 'resolved'];
  return state === 'regressed' ? ['open', 'ignored', 'resolved'] : ['open'];
};

/** Resolves, ignores, reopens and assigns an issue. */
const Decide = (props: PartProps) => {
  const { project, issue } = props;
  const [assigning, setAssigning] = useState(false);
  const update = useUpdateIssue(project, issue.issue_id);
  const toast = useToast();
  const decide = (state: Decided) => {
    // What had regressed cannot regress again before it is seen: it is open.
    const before: IssueChange = { state: issue.state === 'regressed' ? 'open' : issue.state };
    update.mutate(
      { state },
      { onSuccess: () => toast(decisions[state].done, 'Undo', () => update.mutate(before)) },
    );
  };
  return (
    <>
      <Button onClick={() => setAssigning(true)}>Assign</Button>
      {decisionsOn(issue).map((state) => (
        <Button
          key={state}
          kind={state === 'resolved' ? 'primary' : 'plain'}
          idle={update.isPending}
          onClick={() => decide(state)}
        >
          {decisions[state].action}
        </Button>
      ))}
      {update.error ? <span className="error-text">{errorText(update.error)}</span> : null}
      <Modal title="Assign the issue" open={assigning} onClose={() => setAssigning(false)}>
        <AssignForm {...props} onDone={() => setAssigning(false)} />
      </Modal>
    </>
  );
};

/** A text for a coding agent. */
const Handover = ({ project, issue, period }: PartProps) => {
  const { data = [] } = useExamples(project, issue);
  const traces = new Map(data.map(({ id, trace_id }) => [id, trace_id]));
  const examples = issue.examples.map((id) => ({ id, trace: traces.get(id) }));
  const text = agentText(project, issue, period, examples, new URL('mcp', apiUrl()).href);
  return (
    <div className="stack">
      <p>Paste this into a coding agent that has the service as its MCP server.</p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls by keyboard */}
      <pre className="code issue-text" tabIndex={0}>
        {text}
      </pre>
      <div className="row-end">
        <CopyButton text={() => text}>Copy</CopyButton>
      </div>
    </div>
  );
};

/** What can be done about an issue. */
const Further = (props: PartProps & { readonly mayChange: boolean }) => {
  const { project, issue, period, mayChange } = props;
  const [shown, setShown] = useState<'dataset' | 'agent'>();
  const score = scoreOfIssue(issue);
  const close = () => setShown(undefined);
  return (
    <div className="issue-actions">
      <Link to="/traces" search={callsOfIssue(project, issue, period)} className="button plain">
        Show its calls
      </Link>
      {mayChange ? <Button onClick={() => setShown('dataset')}>Add examples to dataset</Button> : null}
      {score !== undefined ? (
        <Link to="/scores" search={{ project, score }} className="button plain">
          Show its score
        </Link>
      ) : mayChange ? (
        <Link to="/evaluators" search={watchedBy(project, issue)} className="button plain">
          Watch with an evaluator
        </Link>
      ) : null}
      <Button onClick={() => setShown('agent')}>Give to a coding agent</Button>
      <AddDialog open={shown === 'dataset'} onClose={close}>
        <AddToDataset project={project} calls={issue.examples} />
      </AddDialog>
      <Modal title="For a coding agent" wide open={shown === 'agent'} onClose={close}>
        <Handover {...props} />
      </Modal>
    </div>
  );
};

const Examples = ({ project, issue }: PartProps) => {
  const query = useExamples(project, issue);
  const { data } = query;
  return (
    <section className="card agent-calls" aria-label="Latest calls">
      <h2>Latest calls</h2>
      <QueryStatus queries={[query]} />
      {data || query.error ? null : <Skeleton label="" rows={issue.examples.length} />}
      {data?.length === 0 ? <p className="muted">They are not there any more.</p> : null}
      <ol>
        {data?.map((call) => (
          <li key={call.id}>
            <CallLink call={call} />
            <span className="muted">
              <Moment time={call.started_at} />
            </span>
          </li>
        ))}
      </ol>
    </section>
  );
};

const Fact = ({ title, children }: { title: string; children: ReactNode }) => (
  <li>
    <div className="card tile">
      <span className="muted">{title}</span>
      <strong>{children}</strong>
    </div>
  </li>
);

/** In which releases it was seen, each with its calls. */
const Releases = ({ project, issue, period, found }: PartProps & { readonly found: Found }) => {
  const began = new Map(found.releases.map(({ release, first_seen }) => [release, first_seen]));
  const order = [...began.keys()].filter((release) => issue.releases.includes(release));
  const all = [...order, ...issue.releases.filter((release) => !began.has(release))];
  return (
    <section className="card agent-calls" aria-label="Releases">
      <h2>Releases</h2>
      {all.length === 0 ? (
        <p className="muted">
          Its calls name no <code>attributes.release</code>.
        </p>
      ) : null}
      <ol>
        {all.map((release) => {
          const first = began.get(release);
          return (
            <li key={release}>
              <Link to="/traces" search={callsOfIssue(project, issue, period, release)} dir="auto">
                {release}
              </Link>
              <span className="muted">
                {first ? (
                  <>
                    since <Moment time={first} />
                  </>
                ) : null}
              </span>
            </li>
          );
        })}
      </ol>
    </section>
  );
};

/** In which agents a loop was seen. */
const Agents = ({ project, issue: { agents } }: PartProps) => (
  <section className="card agent-calls" aria-label="Agents">
    <h2>Agents</h2>
    <ol>
      {agents.map(({ name, count }) => (
        <li key={name}>
          {name === null ? (
            'Outside of agents'
          ) : (
            <Link to="/agents" search={{ project, agent: name }} dir="auto">
              {name}
            </Link>
          )}
          <span className="muted">{countText(count)}</span>
        </li>
      ))}
    </ol>
  </section>
);

interface ContentProps extends PartProps {
  readonly found: Found;
  readonly mayChange: boolean;
  readonly onZoom: (from: number, to: number) => void;
}

const Content = (props: ContentProps) => {
  const { project, issue, found, mayChange, onZoom } = props;
  const points = pointsOf(found, issue);
  const lines = [{ label: 'occurrences', values: issue.series, color: 'error' as const }];
  return (
    <div className="stack issue-page">
      <p className="facts">
        <IssueStateBadge state={issue.state} />
        <KindBadge kind={issue.kind} />
        <span dir="auto">{subjectOf(issue)}</span>
        <span>{seenText(issue)}</span>
        {issue.assignee === null ? null : (
          <span>
            assigned to <Person user={issue.assignee} />
          </span>
        )}
      </p>
      <Further {...props} />
      <ul className="tiles" aria-label="In all">
        <Fact title="Count">{countText(issue.count)}</Fact>
        <Fact title="Traces">{countText(issue.trace_count)}</Fact>
        <Fact title="Users">{countText(issue.user_count)}</Fact>
        <Fact title="First seen">
          <Moment time={issue.first_seen} />
        </Fact>
        <Fact title="Last seen">
          <Moment time={issue.last_seen} />
        </Fact>
      </ul>
      <MetricChart
        title="Occurrences"
        points={points}
        lines={lines}
        bars
        granularity={found.granularity}
        text={countText}
        getLink={({ from, to }) => callsOfIssue(project, issue, { start: from, end: to })}
        onZoom={onZoom}
      />
      <div className="issue-parts">
        <Examples {...props} />
        <Releases {...props} />
        {issue.agents.length > 0 ? <Agents {...props} /> : null}
        <Note {...props} mayChange={mayChange} />
      </div>
    </div>
  );
};

interface IssuePageProps {
  readonly id: string;
  readonly search: IssuesSearch;
  readonly span: Span;
  readonly period: Period;
  readonly onRefresh: () => void;
  readonly onTime: (span: Span) => void;
  readonly onZoom: (from: number, to: number) => void;
}

/** An issue: when and where it was seen, and what became of it. */
export const IssuePage = ({ id, search, span, period, onRefresh, onTime, onZoom }: IssuePageProps) => {
  const { project } = search;
  const query = useIssue(project, id, period);
  const found = query.data;
  const [issue] = found?.issues ?? [];
  const mayChange = useAllowed(project, 'write');
  useTitle(issue?.title ?? 'Issue');
  return (
    <View
      title={issue?.title ?? 'Issue'}
      actions={
        <>
          <RefreshButton onClick={onRefresh} />
          {issue && mayChange ? <Decide project={project} issue={issue} period={period} /> : null}
        </>
      }
    >
      <HeadTools>
        <TimeMenu span={span} onChange={onTime} />
      </HeadTools>
      <QueryStatus queries={[query]} />
      {query.isLoading ? (
        <>
          <Skeleton label="Loading the issue…" rows={5} className="tiles" />
          <Skeleton label="" rows={1} className="charts" />
        </>
      ) : null}
      {found && !issue ? (
        <Notice
          kind="info"
          action={
            <Link to="/issues" search={changed<IssuesSearch>(search, { issue: undefined })}>
              All issues
            </Link>
          }
        >
          This issue was not seen in this time. Choose a longer one.
        </Notice>
      ) : null}
      {issue && found ? (
        <Content
          project={project}
          issue={issue}
          found={found}
          period={period}
          mayChange={mayChange}
          onZoom={onZoom}
        />
      ) : null}
    </View>
  );
};
