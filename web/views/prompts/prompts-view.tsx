import { getRouteApi, Link } from '@tanstack/react-router';
import { MessageSquareText } from 'lucide-react';
import { type ReactNode, useMemo, useState } from 'react';
import { type Figures, sortRows } from '../../calls/figures/figures.ts';
import { callsIn, toPeriod } from '../../calls/figures/requests.ts';
import { useCostText } from '../../calls/prices.ts';
import { countText, latencyText } from '../../data/format.ts';
import { typedText } from '../../data/values.ts';
import { useChange } from '../../navigation/change.ts';
import type { PromptsSearch } from '../../navigation/search.ts';
import { useTitle } from '../../navigation/title.ts';
import { Lacking, useAllowed } from '../../session/session.tsx';
import { maxListed } from '../../session/stored.ts';
import {
  Empty,
  Moment,
  QueryStatus,
  ScrollTable,
  SearchBox,
  sortableBy,
  type TableColumn,
} from '../../ui/controls.tsx';
import { Toasts } from '../../ui/toasts.tsx';
import { View } from '../../ui/view.tsx';
import { type PromptRow, useFigures, usePrompts } from './data.ts';
import { callsOfPrompt } from './figures.ts';
import { LabelBadges, Program, Scores, TooMany } from './parts.tsx';
import { NewPrompt } from './prompt-editor.tsx';
import { PromptPage } from './prompt-page.tsx';

const route = getRouteApi('/prompts');

/** A row of the list: a prompt, and what its calls of the last seven days say. */
interface Row {
  readonly prompt: PromptRow;
  /** Undefined without calls, and while nobody knows. */
  readonly figures: Figures | undefined;
}

/** What rows are sorted by. */
const sortValue = ({ prompt, figures }: Row, column: string): string | number | undefined => {
  if (column === 'name') return prompt.name;
  if (column === 'version') return prompt.version_index;
  if (column === 'saved') return prompt.saved_at;
  if (column === 'calls') return figures?.calls ?? 0;
  return column === 'cost' || column === 'p95' || column === 'errors' ? figures?.[column] : undefined;
};

interface ListProps {
  readonly search: PromptsSearch;
  readonly prompts: readonly PromptRow[];
}

/** All prompts, with what their calls of the last seven days say. */
const List = ({ search, prompts }: ListProps) => {
  const { project, text = '', sort = '-calls' } = search;
  const change = useChange<PromptsSearch>(route.useNavigate());
  const [now] = useState(() => Date.now());
  const period = useMemo(() => toPeriod({ range: '7d' }, now), [now]);
  const { groups, scores, tooMany, queries } = useFigures(project, period);
  const toCost = useCostText(project);
  const wanted = text.toLowerCase();
  const rows = sortRows(
    prompts
      .filter(({ name }) => name.toLowerCase().includes(wanted))
      .map((prompt): Row => ({ prompt, figures: groups?.get(typedText(prompt.name)) })),
    sort,
    sortValue,
  );
  const sortable = sortableBy(sort, (next) => change({ sort: next === '-calls' ? undefined : next }));
  const figure = (show: (figures: Figures, row: Row) => ReactNode) => (row: Row) =>
    row.figures ? show(row.figures, row) : groups ? null : <span className="muted">…</span>;
  const columns: readonly TableColumn<Row>[] = [
    {
      title: 'Prompt',
      cell: ({ prompt: { name } }) => (
        <Link to="/prompts" search={{ project, prompt: name }} className="prompt-name cut" title={name}>
          {name}
        </Link>
      ),
      ...sortable('name'),
    },
    {
      title: 'Labels',
      cell: ({ prompt }) => <LabelBadges labels={prompt.labels} withVersion />,
    },
    {
      title: 'Calls',
      className: 'numeric',
      cell: figure(({ calls }, { prompt }) => (
        <Link
          to="/traces"
          search={callsIn(callsOfPrompt(project, prompt.name), period)}
          className="cell-link"
        >
          {countText(calls)}
        </Link>
      )),
      ...sortable('calls'),
    },
    {
      title: 'Cost',
      className: 'numeric',
      cell: figure(({ cost }) => (cost === undefined ? '' : toCost(cost))),
      ...sortable('cost'),
    },
    {
      title: 'p95',
      className: 'numeric',
      cell: figure(({ p95 }) => latencyText(p95 ?? Number.NaN)),
      ...sortable('p95'),
    },
    {
      title: 'Errors',
      className: 'numeric',
      cell: figure(({ errors }) =>
        errors > 0 ? <span className="error-text">{countText(errors)}</span> : '0',
      ),
      ...sortable('errors'),
    },
    {
      title: 'Scores',
      cell: ({ prompt }) => <Scores scores={scores} group={typedText(prompt.name)} />,
    },
    {
      title: 'Newest',
      className: 'numeric',
      cell: ({ prompt }) => `v${prompt.version_index}`,
      ...sortable('version'),
    },
    { title: 'Saved', cell: ({ prompt }) => <Moment time={prompt.saved_at} />, ...sortable('saved') },
  ];
  return (
    <>
      <div className="toolbar prompts-toolbar">
        <SearchBox
          label="Search prompts"
          text={text}
          onText={(next) => change({ text: next || undefined })}
        />
        <span className="hint">Figures of production in the last 7 days</span>
      </div>
      <QueryStatus queries={queries} />
      {tooMany === undefined ? null : <TooMany count={tooMany} />}
      {rows.length === 0 ? (
        <p className="muted">No prompt has this in its name.</p>
      ) : (
        <ScrollTable
          label="Prompts"
          className="wide as-cards prompts-table"
          columns={columns}
          rows={rows}
          getKey={({ prompt }) => prompt.name}
        />
      )}
      {prompts.length === maxListed ? (
        <p className="muted">Only the first {countText(maxListed)} prompts are shown.</p>
      ) : null}
    </>
  );
};

const None = ({ project, mayWrite }: { project: string; mayWrite: boolean }) => (
  <>
    <Empty
      icon={MessageSquareText}
      title={`${project} has no prompts yet`}
      action={
        mayWrite ? (
          <Link to="/prompts" search={{ project, form: true }} className="button primary">
            New prompt
          </Link>
        ) : undefined
      }
    >
      Prompts that your programs read by name, with all of their versions. Change one without a deployment,
      see in the figures what it did, and move it back by a click. Weave&apos;s prompts show here, too.
    </Empty>
    <Program project={project} name="support" />
  </>
);

/** The prompts of a project, one of them, or the form of a new one. */
export const PromptsView = () => {
  const search = route.useSearch();
  const { project, prompt, form } = search;
  const query = usePrompts(project);
  const mayWrite = useAllowed(project, 'write');
  const isNew = prompt === undefined && form === true;
  useTitle(isNew ? 'New prompt' : prompt);
  if (prompt !== undefined)
    return (
      <Toasts key={prompt}>
        <PromptPage search={search} name={prompt} />
      </Toasts>
    );
  const { data } = query;
  return (
    <View
      title={isNew ? 'New prompt' : 'Prompts'}
      narrow={isNew}
      actions={
        mayWrite && !isNew && data && data.length > 0 ? (
          <Link to="/prompts" search={{ project, form: true }} className="button primary">
            New prompt
          </Link>
        ) : null
      }
    >
      <QueryStatus queries={[query]} loading="Loading prompts…" />
      {isNew && !mayWrite ? <Lacking project={project} needs="write" what="to make a prompt" /> : null}
      {data && isNew && mayWrite ? (
        <NewPrompt project={project} taken={data.map(({ name }) => name)} />
      ) : null}
      {data?.length === 0 && !isNew ? <None project={project} mayWrite={mayWrite} /> : null}
      {data && data.length > 0 && !isNew ? <List search={search} prompts={data} /> : null}
    </View>
  );
};
