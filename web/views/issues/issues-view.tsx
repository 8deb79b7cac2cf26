import { getRouteApi, Link } from '@tanstack/react-router';
import { Bug } from 'lucide-react';
import { issueKinds } from '../../../api/shared/issues.ts';
import { sortRows } from '../../calls/figures/figures.ts';
import { toTime, usePeriod } from '../../calls/figures/read.ts';
import type { Period } from '../../calls/figures/requests.ts';
import { type Span, TimeMenu } from '../../calls/filters/time-menu.tsx';
import { countText } from '../../data/format.ts';
import { useChange } from '../../navigation/change.ts';
import type { IssuesSearch } from '../../navigation/search.ts';
import { Person } from '../../session/session.tsx';
import {
  Button,
  Empty,
  Moment,
  Notice,
  QueryStatus,
  RefreshButton,
  ScrollTable,
  SearchBox,
  Skeleton,
  sortableBy,
  type TableColumn,
} from '../../ui/controls.tsx';
import { Segments } from '../../ui/fields.tsx';
import { Select } from '../../ui/popups.tsx';
import { Toasts } from '../../ui/toasts.tsx';
import { HeadTools, View } from '../../ui/view.tsx';
import { useIssues } from './data.ts';
import {
  agentsOf,
  type Found,
  type Issue,
  issuesOf,
  kindTexts,
  knowsYesterday,
  listRequest,
  maxIssues,
  newAfter,
  newestRelease,
  subjectOf,
  type Tab,
  tabs,
} from './issue.ts';
import { IssuePage } from './issue-page.tsx';
import { IssueStateBadge, KindBadge, Spark } from './parts.tsx';

const route = getRouteApi('/issues');

const tabTexts: Readonly<Record<Tab, string>> = {
  open: 'Open',
  regressed: 'Regressed',
  resolved: 'Resolved',
  ignored: 'Ignored',
  all: 'All',
};

/** What rows are sorted by. */
const sortValue = (issue: Issue, column: string) => {
  if (column === 'title') return issue.title;
  if (column === 'kind') return issue.kind;
  if (column === 'count') return issue.count;
  if (column === 'users') return issue.user_count;
  if (column === 'releases') return issue.releases.length;
  if (column === 'state') return issue.state;
  if (column === 'assignee') return issue.assignee ?? undefined;
  return Date.parse(issue.last_seen);
};

const fits = (issue: Issue, text: string): boolean =>
  `${issue.title}\n${subjectOf(issue)}`.toLowerCase().includes(text.toLowerCase());

/** The releases of an issue, the newest first, as far as there is room. */
const Releases = ({ issue, found }: { issue: Issue; found: Found }) => {
  const order = found.releases.map(({ release }) => release);
  const known = order.filter((release) => issue.releases.includes(release));
  const all = [...known, ...issue.releases.filter((release) => !known.includes(release))];
  const [first] = all;
  if (first === undefined) return null;
  return (
    <span title={all.join(', ')} dir="auto">
      {first}
      {all.length > 1 ? <span className="muted"> +{all.length - 1}</span> : null}
    </span>
  );
};

interface ListProps {
  readonly search: IssuesSearch;
  readonly period: Period;
  readonly found: Found;
}

const List = ({ search, period, found }: ListProps) => {
  const { tab = 'open', text = '', sort = '-last' } = search;
  const change = useChange<IssuesSearch>(route.useNavigate());
  const rows = sortRows(
    issuesOf(tab, found.issues).filter((issue) => fits(issue, text)),
    sort,
    sortValue,
  );
  const sortable = sortableBy(sort, (next) => change({ sort: next === '-last' ? undefined : next }));
  const newest = newestRelease(found.releases);
  const after = newAfter('release', period, found.releases);
  const numeric = 'numeric' as const;
  const columns: readonly TableColumn<Issue>[] = [
    {
      title: 'Issue',
      className: 'break',
      cell: (issue) => (
        <>
          <Link to="/issues" search={{ ...search, issue: issue.issue_id }} dir="auto">
            {issue.title}
          </Link>
          {after !== undefined && newest && Date.parse(issue.first_seen) > Date.parse(after) ? (
            <span className="badge running" title={`First seen since ${newest.release}`}>
              new
            </span>
          ) : null}
          <span className="hint" dir="auto">
            {subjectOf(issue)}
          </span>
        </>
      ),
      ...sortable('title'),
    },
    { title: 'Kind', cell: ({ kind }) => <KindBadge kind={kind} />, ...sortable('kind') },
    {
      title: 'Count',
      className: numeric,
      cell: ({ count }) => countText(count),
      ...sortable('count'),
    },
    { title: 'Over time', cell: ({ series }) => <Spark series={series} /> },
    {
      title: 'Users',
      className: numeric,
      cell: ({ user_count: users }) => (users === 0 ? '' : countText(users)),
      ...sortable('users'),
    },
    {
      title: 'Releases',
      cell: (issue) => <Releases issue={issue} found={found} />,
      ...sortable('releases'),
    },
    { title: 'Last seen', cell: ({ last_seen }) => <Moment time={last_seen} />, ...sortable('last') },
    { title: 'State', cell: ({ state }) => <IssueStateBadge state={state} />, ...sortable('state') },
    {
      title: 'Assignee',
      cell: ({ assignee }) => (assignee === null ? '' : <Person user={assignee} />),
      ...sortable('assignee'),
    },
  ];
  return (
    <>
      {rows.length === 0 ? (
        <p className="muted">No issue of this time is one of these.</p>
      ) : (
        <ScrollTable
          label="Issues"
          className="wide as-cards issues-table"
          columns={columns}
          rows={rows}
          getKey={({ issue_id }) => issue_id}
        />
      )}
      {found.count > maxIssues ? (
        <p className="muted">
          {countText(found.count)} issues match, of which those that were seen last are listed:{' '}
          {countText(maxIssues)}. Choose a kind, a release or a shorter time for others.
        </p>
      ) : null}
      {found.left_out > 0 ? (
        <p className="muted">
          {countText(found.left_out)} more failures are in no issue: only the most common issues of an hour or
          a day are told apart, at most 500. Choose a shorter time for others.
        </p>
      ) : null}
    </>
  );
};

interface FiltersProps {
  readonly search: IssuesSearch;
  readonly period: Period;
  /** Undefined while nobody knows. */
  readonly found: Found | undefined;
  readonly releases: Found['releases'];
}

/** What is shown: of which state, kind, release and age. */
const Filters = ({ search, period, found, releases }: FiltersProps) => {
  const { tab = 'open', kind = '', release = '', agent = '', since = '', text = '' } = search;
  const change = useChange<IssuesSearch>(route.useNavigate());
  const newest = newestRelease(releases);
  const names = releases.map((one) => one.release);
  const agents = agentsOf(found?.issues ?? []);
  const chooseSince = (next: string) =>
    change({
      since: next === '' ? undefined : next === 'release' ? 'release' : 'yesterday',
      // A day has nothing before it.
      ...(next === 'yesterday' &&
        !knowsYesterday(period) && { range: undefined, from: undefined, to: undefined }),
    });
  return (
    <>
      <Segments
        fit
        legend="State"
        value={tab}
        options={(Object.keys(tabs) as Tab[]).map((name) => [
          name,
          `${tabTexts[name]} ${found ? countText(issuesOf(name, found.issues).length) : '…'}`,
        ])}
        onChange={(next) => change({ tab: next === 'open' ? undefined : next })}
      />
      <Select
        fit
        label="Kind"
        value={kind}
        options={[['', 'Any kind'], ...issueKinds.map((name) => [name, kindTexts[name]] as const)]}
        onChange={(next) => change({ kind: next === '' ? undefined : next })}
      />
      <Select
        fit
        label="Release"
        value={release}
        options={[
          ['', 'Any release'],
          ...(release === '' || names.includes(release) ? names : [release, ...names]),
        ]}
        onChange={(next) => change({ release: next || undefined })}
      />
      {agent !== '' || agents.length > 0 ? (
        <Select
          fit
          label="Agent"
          value={agent}
          options={[
            ['', 'Any agent'],
            ...(agent === '' || agents.includes(agent) ? agents : [agent, ...agents]).map(
              (name) => [name, `Loops in ${name}`] as const,
            ),
          ]}
          onChange={(next) => change({ agent: next || undefined })}
        />
      ) : null}
      <Select
        fit
        label="Since"
        value={since}
        options={[
          ['', 'Of any age'],
          ['yesterday', 'New since yesterday'],
          ...(newest || since === 'release'
            ? [['release', newest ? `New since ${newest.release}` : 'New since the last release'] as const]
            : []),
        ]}
        onChange={chooseSince}
      />
      <SearchBox label="Search issues" text={text} onText={(next) => change({ text: next || undefined })} />
    </>
  );
};

/** Nothing of what narrows a list. */
const wide = { kind: undefined, release: undefined, agent: undefined, since: undefined } as const;

const isNarrowed = ({ kind, release, agent, since }: IssuesSearch): boolean =>
  (kind ?? release ?? agent ?? since) !== undefined;

interface IssuesProps {
  readonly search: IssuesSearch;
  readonly span: Span;
  readonly period: Period;
  readonly refresh: () => void;
}

/** The issues of a time. */
const Issues = ({ search, span, period, refresh }: IssuesProps) => {
  const { project, since } = search;
  const change = useChange<IssuesSearch>(route.useNavigate());
  // When the newest release began is known only from an answer.
  const ofAnyAge = useIssues(listRequest(search, period), since === undefined || since === 'release');
  const releases = ofAnyAge.data?.releases ?? [];
  const after = newAfter(since, period, releases);
  const ofAge = useIssues(listRequest(search, period, after), after !== undefined);
  const query = after === undefined ? ofAnyAge : ofAge;
  const found = query.data;
  return (
    <View
      title="Issues"
      className="issues"
      actions={<RefreshButton onClick={refresh} />}
      toolbar={
        <Filters search={search} period={period} found={found} releases={found?.releases ?? releases} />
      }
    >
      <HeadTools>
        <TimeMenu span={span} onChange={({ range, from, to }) => change({ range, from, to })} />
      </HeadTools>
      <QueryStatus queries={[query]} />
      {query.isLoading ? <Skeleton label="Grouping what went wrong…" rows={8} /> : null}
      {since === 'release' && ofAnyAge.data && after === undefined ? (
        <Notice kind="info">
          Calls of this time name fewer than two releases, by <code>attributes.release</code>. Choose a longer
          time to see what the last one brought.
        </Notice>
      ) : null}
      {found?.issues.length === 0 && !isNarrowed(search) ? (
        <Empty icon={Bug} title={`${project} has no issues in this time`}>
          An issue is what failed calls have in common, verdicts of evaluators that refuse, bad feedback, or a
          tool that is called in a loop. Issues come to be by themselves.
        </Empty>
      ) : null}
      {found?.issues.length === 0 && isNarrowed(search) ? (
        <Notice kind="info" action={<Button onClick={() => change(wide)}>Show all issues</Button>}>
          {since === undefined ? 'No issue of this time matches.' : 'Nothing is new.'}
        </Notice>
      ) : null}
      {found && found.issues.length > 0 ? <List search={search} period={period} found={found} /> : null}
    </View>
  );
};

/** The issues of a project, or one of them. */
export const IssuesView = () => {
  const search = route.useSearch();
  const change = useChange<IssuesSearch>(route.useNavigate());
  const { span, period, refresh } = usePeriod(search, '7d');
  const { project, issue } = search;
  if (issue === undefined)
    return <Issues key={project} search={search} span={span} period={period} refresh={refresh} />;
  return (
    <Toasts key={`${project} ${issue}`}>
      <IssuePage
        id={issue}
        search={search}
        span={span}
        period={period}
        onRefresh={refresh}
        onTime={({ range, from, to }) => change({ range, from, to })}
        onZoom={(start, end) => change(toTime(start, end))}
      />
    </Toasts>
  );
};
