import { getRouteApi, Link } from '@tanstack/react-router';
import { type ReactNode, useMemo, useState } from 'react';
import { parseMessage } from '../../../api/shared/conversation.ts';
import { variablesIn } from '../../../api/shared/prompt-variables.ts';
import type { ObjectVersion } from '../../api/contract.ts';
import { changeText, errorRate, type Figures, percentText } from '../../calls/figures/figures.ts';
import { usePeriod } from '../../calls/figures/read.ts';
import { callsIn, type Period } from '../../calls/figures/requests.ts';
import { TimeMenu } from '../../calls/filters/time-menu.tsx';
import { MessageCard } from '../../calls/messages/messages.tsx';
import { useValue, useVersions } from '../../calls/objects.ts';
import { useCostText } from '../../calls/prices.ts';
import { findVersion, readConfig, readContent } from '../../calls/prompts/prompt.ts';
import { countedText, countText, latencyText } from '../../data/format.ts';
import { parseLiteral } from '../../data/values.ts';
import { useChange } from '../../navigation/change.ts';
import type { PromptsSearch } from '../../navigation/search.ts';
import { Lacking, Person, useAllowed } from '../../session/session.tsx';
import {
  CopyButton,
  Moment,
  Notice,
  QueryStatus,
  RefreshButton,
  ScrollTable,
  type TableColumn,
} from '../../ui/controls.tsx';
import { DiffView } from '../../ui/diff-view.tsx';
import { Choice } from '../../ui/fields.tsx';
import { JsonTree } from '../../ui/json-tree.tsx';
import { versionName, versionOption } from '../../ui/object-list.tsx';
import { HeadTools, View } from '../../ui/view.tsx';
import {
  evaluationText,
  type LabelMove,
  maxUses,
  type PromptRow,
  useFigures,
  usePrompt,
  useUses,
} from './data.ts';
import { versionText } from './draft.ts';
import { callsOfPrompt, mergeFigures, toVersionGroups } from './figures.ts';
import { LabelHistory, LabelMenu, moveError, useMoveLabel } from './labels.tsx';
import { LabelBadges, Program, Scores, TooMany } from './parts.tsx';
import { PromptEditor } from './prompt-editor.tsx';
import { Template } from './template.tsx';

const route = getRouteApi('/prompts');

/** What a version says, with its variables marked. */
const Content = ({ value }: { value: unknown }) => {
  const content = readContent(value);
  const config = readConfig(value);
  if (!content)
    return (
      <>
        <Notice kind="info">
          This version has neither messages nor a text in the shape that programs read. This is its value.
        </Notice>
        <JsonTree value={value} path="" label="value" />
      </>
    );
  const variables = variablesIn(content);
  return (
    <>
      {'text' in content ? (
        <article className="message user">
          <div className="long-text template" dir="auto">
            <Template text={content.text} />
          </div>
        </article>
      ) : (
        content.messages.map((message, at) => {
          const { role, content: text, ...others } = message;
          if (typeof text !== 'string' || Object.keys(others).length > 0)
            return <MessageCard key={at} message={parseMessage(message)} plain />;
          return (
            <article key={at} className={`message ${String(role)}`}>
              <header className="message-head">{String(role)}</header>
              <div className="long-text template" dir="auto">
                <Template text={text} />
              </div>
            </article>
          );
        })
      )}
      {variables.length > 0 ? (
        <p className="prompt-labels">
          <span className="hint">{countedText(variables.length, 'variable')}:</span>
          {variables.map((name) => (
            <mark key={name} className="variable">
              {name}
            </mark>
          ))}
        </p>
      ) : null}
      {Object.keys(config).length > 0 ? (
        <section className="stack">
          <h3>Config</h3>
          <JsonTree value={config} path="" label="config" />
        </section>
      ) : null}
    </>
  );
};

/** What differs between two versions. */
const Differences = ({ one, other, label }: { one: unknown; other: unknown; label: string }) => {
  const texts = useMemo(
    () => [one, other].map((value) => versionText(readContent(value), readConfig(value), value)),
    [one, other],
  );
  return <DiffView one={texts[0] ?? ''} other={texts[1] ?? ''} label={label} />;
};

interface VersionRow {
  readonly version: ObjectVersion | undefined;
  /** How calls name it, as filters have it; empty if none does. */
  readonly keys: readonly string[];
  readonly figures: Figures | undefined;
  /** The version before it that has calls. */
  readonly before: Pick<VersionRow, 'keys' | 'figures'> | undefined;
}

/** A figure, with how it changed from the version before. */
const Changed = ({
  text,
  now,
  before,
}: {
  text: string;
  now: number | undefined;
  before: number | undefined;
}) => {
  const change = changeText(before, now);
  return (
    <span className="changed-figure">
      {text}
      {change === undefined ? null : <span className="figure-change">{change}</span>}
    </span>
  );
};

const costOfCall = ({ cost, calls }: Figures): number | undefined =>
  cost === undefined || calls === 0 ? undefined : cost / calls;

interface VersionsTableProps {
  readonly search: PromptsSearch;
  readonly prompt: PromptRow;
  readonly versions: readonly ObjectVersion[];
  readonly shown: ObjectVersion;
  readonly period: Period;
  readonly figures: ReturnType<typeof useFigures>;
}

/** The versions with their labels, and what the calls of each say beside those of the one before. */
const VersionsTable = ({ search, prompt, versions, shown, period, figures }: VersionsTableProps) => {
  const { project } = search;
  const { name } = prompt;
  const toCost = useCostText(project);
  const { groups, scores } = figures;
  const rows = useMemo(() => {
    const found = toVersionGroups(groups?.keys() ?? [], versions);
    const known = versions.map((version) => {
      const keys = found.filter(({ index }) => index === version.version_index).map(({ key }) => key);
      return { version, keys, figures: groups && mergeFigures(keys.flatMap((key) => groups.get(key) ?? [])) };
    });
    const others = found
      .filter(({ index }) => index === undefined)
      .map(({ key }) => ({ version: undefined, keys: [key], figures: groups?.get(key), before: undefined }));
    return [
      ...known.map(
        (row, at): VersionRow => ({
          ...row,
          before: known.slice(at + 1).find((earlier) => earlier.figures !== undefined),
        }),
      ),
      ...others,
    ];
  }, [groups, versions]);
  const figure =
    (show: (now: Figures, before: Figures | undefined, row: VersionRow) => ReactNode) => (row: VersionRow) =>
      row.figures ? (
        show(row.figures, row.before?.figures, row)
      ) : groups ? null : (
        <span className="muted">…</span>
      );
  const columns: readonly TableColumn<VersionRow>[] = [
    {
      title: 'Version',
      cell: ({ version, keys }) =>
        version ? (
          <Link
            to="/prompts"
            search={({ base: _base, ...before }) => ({
              ...before,
              project,
              version: versionName(version),
            })}
            aria-current={version.digest === shown.digest ? 'true' : undefined}
          >
            {versionName(version)}
          </Link>
        ) : (
          <span className="muted" title="Calls name it, and there is no such version.">
            {String(parseLiteral(keys[0] ?? ''))}
          </span>
        ),
    },
    {
      title: 'Labels',
      cell: ({ version }) =>
        version ? (
          <LabelBadges
            labels={prompt.labels.filter(({ version_index }) => version_index === version.version_index)}
            isLatest={version.is_latest === 1}
          />
        ) : null,
    },
    {
      title: 'Calls',
      className: 'numeric',
      cell: figure(({ calls }, _before, { keys }) =>
        keys.length === 1 ? (
          <Link
            to="/traces"
            search={callsIn(callsOfPrompt(project, name, keys[0]), period)}
            className="cell-link"
            aria-label={`${countedText(calls, 'call')} in Traces`}
          >
            {countText(calls)}
          </Link>
        ) : (
          countText(calls)
        ),
      ),
    },
    {
      title: 'Cost',
      className: 'numeric',
      cell: figure(({ cost }) => (cost === undefined ? '' : toCost(cost))),
    },
    {
      title: 'Per 1,000 calls',
      className: 'numeric',
      cell: figure((now, before) => {
        const cost = costOfCall(now);
        return cost === undefined ? (
          ''
        ) : (
          <Changed text={toCost(1000 * cost)} now={cost} before={before && costOfCall(before)} />
        );
      }),
    },
    {
      title: 'p95',
      className: 'numeric',
      cell: figure(({ p95 }, before) =>
        p95 === undefined ? '' : <Changed text={latencyText(p95)} now={p95} before={before?.p95} />,
      ),
    },
    {
      title: 'Errors',
      className: 'numeric',
      cell: figure((now, before) => (
        <Changed
          text={percentText(errorRate(now))}
          now={errorRate(now)}
          before={before && errorRate(before)}
        />
      )),
    },
    {
      title: 'Scores',
      cell: ({ keys, before }) => <Scores scores={scores} group={keys[0] ?? ''} before={before?.keys[0]} />,
    },
    { title: 'Saved', cell: ({ version }) => (version ? <Moment time={version.created_at} /> : null) },
    { title: 'By', cell: ({ version }) => (version ? <Person user={version.svc_user_id} /> : null) },
  ];
  return (
    <ScrollTable
      label="Versions"
      className="wide prompts-table"
      columns={columns}
      rows={rows}
      active={rows.findIndex(({ version }) => version?.digest === shown.digest)}
      getKey={({ version, keys }) => version?.digest ?? keys[0] ?? ''}
    />
  );
};

/** Where the prompt was used. */
const Uses = ({ project, name, period }: { project: string; name: string; period: Period }) => {
  const query = useUses(project, name, period);
  const { data } = query;
  return (
    <section className="stack" aria-label="Used in">
      <h2>Used in</h2>
      <QueryStatus queries={[query]} loading="Looking for its calls…" />
      {data?.calls === 0 ? (
        <p className="muted">
          No call of this time names it. Calls do by <code>attributes.prompt.name</code>, which clients set.
        </p>
      ) : null}
      {data && data.calls > 0 ? (
        <ul className="prompt-uses">
          {data.operations.map(({ op, name: text, traces }) => (
            <li key={op}>
              <Link
                to="/traces"
                search={{ project, where: [{ path: 'op_name', op: 'is', value: op }] }}
                dir="auto"
              >
                {text}
              </Link>
              <span className="muted">{countedText(traces, 'trace')}</span>
            </li>
          ))}
          {data.evaluations.map((root) => (
            <li key={root.id}>
              <Link to="/evaluation" search={{ project, runs: [root.id] }} dir="auto">
                {evaluationText(root)}
              </Link>
              <span className="muted">
                evaluation of <Moment time={root.started_at} />
              </span>
            </li>
          ))}
        </ul>
      ) : null}
      {data?.calls === maxUses ? <p className="hint">By its latest {countText(maxUses)} calls.</p> : null}
    </section>
  );
};

interface ShownProps {
  readonly search: PromptsSearch;
  readonly prompt: PromptRow;
  readonly history: readonly LabelMove[];
  readonly versions: readonly ObjectVersion[];
  readonly shown: ObjectVersion;
  readonly period: Period;
}

/** A prompt: its versions with their figures, and one of them beside another. */
const Shown = ({ search, prompt, history, versions, shown, period }: ShownProps) => {
  const { project, base } = search;
  const change = useChange<PromptsSearch>(route.useNavigate());
  const { name } = prompt;
  const mayWrite = useAllowed(project, 'write');
  const move = useMoveLabel(project, name);
  const figures = useFigures(project, period, name);
  const at = versions.indexOf(shown);
  const compared =
    (base === undefined
      ? undefined
      : findVersion(
          versions.filter((each) => each !== shown),
          base,
        )) ?? versions[at + 1];
  const value = useValue(shown);
  const before = useValue(compared);
  // At first, what stands below waits for what is above it, so that it stays where it is.
  const [isDrawn, setDrawn] = useState(false);
  if (!isDrawn && !value.isLoading && !before.isLoading) setDrawn(true);
  const failed = moveError(move);
  const own = prompt.labels.filter(({ version_index }) => version_index === shown.version_index);
  return (
    <div className="stack prompt-page">
      {failed ? <Notice kind="error">{failed}</Notice> : null}
      <QueryStatus queries={figures.queries} />
      {figures.tooMany === undefined ? null : <TooMany count={figures.tooMany} />}
      <VersionsTable
        search={search}
        prompt={prompt}
        versions={versions}
        shown={shown}
        period={period}
        figures={figures}
      />
      <p className="hint">
        Calls of production in the time above. Small figures say how a version differs from the one before it
        that has calls.
      </p>
      <section className="stack prompt-version" aria-label={`Version ${shown.version_index}`}>
        <div className="row-between wrap">
          <h2 className="row-end">
            {versionName(shown)} <LabelBadges labels={own} isLatest={shown.is_latest === 1} />
          </h2>
          <span className="row-end wrap">
            <CopyButton text={() => shown.digest}>Copy digest</CopyButton>
            {mayWrite ? (
              <>
                <LabelMenu project={project} prompt={prompt} version={shown.version_index} move={move} />
                <Link
                  to="/prompts"
                  search={{ ...search, version: versionName(shown), form: true }}
                  className="button plain"
                >
                  {shown.is_latest === 1 ? 'Edit' : 'Edit as a new version'}
                </Link>
              </>
            ) : null}
          </span>
        </div>
        <div className="prompt-sides">
          <div className="stack">
            <QueryStatus queries={[value]} loading="Loading the version…" />
            {value.isSuccess ? <Content value={value.data} /> : null}
          </div>
          {compared && isDrawn ? (
            <section className="stack" aria-label="Differences">
              <Choice
                className="compared"
                label="Differences from"
                value={compared.digest}
                options={versions.filter((each) => each !== shown).map(versionOption)}
                onChange={(digest) => {
                  const chosen = versions.find((each) => each.digest === digest);
                  change({ base: chosen && versionName(chosen) });
                }}
              />
              <QueryStatus queries={[before]} />
              {value.isSuccess && before.isSuccess ? (
                <Differences
                  one={before.data}
                  other={value.data}
                  label={`Differences between ${versionName(compared)} and ${versionName(shown)}`}
                />
              ) : null}
            </section>
          ) : null}
        </div>
      </section>
      {isDrawn ? (
        <>
          <Uses project={project} name={name} period={period} />
          <section className="stack" aria-label="History of labels">
            <h2>History of labels</h2>
            <LabelHistory
              project={project}
              prompt={prompt}
              history={history}
              versions={new Set(versions.map(({ version_index }) => version_index))}
              move={move}
            />
          </section>
          <Program project={project} name={name} label={own[0]?.label ?? 'production'} />
        </>
      ) : null}
    </div>
  );
};

/** The versions that an evaluation begins with: this one, beside the one in production. */
const evaluated = ({ version_index }: ObjectVersion, prompt: PromptRow | undefined): readonly number[] => {
  const served = prompt?.labels.find(({ label }) => label === 'production')?.version_index ?? version_index;
  return [...new Set([served, version_index])];
};

/** A prompt with its versions, or the form of a new one. */
export const PromptPage = ({ search, name }: { search: PromptsSearch; name: string }) => {
  const { project, version, form } = search;
  const change = useChange<PromptsSearch>(route.useNavigate());
  const { span, period, refresh } = usePeriod(search, '7d');
  const found = usePrompt(project, name);
  const listed = useVersions(project, name);
  const mayWrite = useAllowed(project, 'write');
  const { data: versions } = listed;
  const shown = versions && (version === undefined ? versions[0] : findVersion(versions, version));
  const value = useValue(form ? shown : undefined);
  const isEditing = form === true && shown !== undefined;
  return (
    <View
      title={name}
      about={isEditing ? <p>A new version, made of {versionName(shown)}</p> : undefined}
      narrow={isEditing}
      actions={
        isEditing ? null : (
          <>
            <RefreshButton
              onClick={() => {
                refresh();
                found.refetch();
                listed.refetch();
              }}
            />
            {shown && mayWrite ? (
              <Link
                to="/evaluate"
                search={{ project, prompt: name, versions: evaluated(shown, found.data?.prompt) }}
                className="button plain"
              >
                Evaluate
              </Link>
            ) : null}
            {shown ? (
              <Link
                to="/playground"
                search={{ project, prompt: name, version: shown.digest }}
                className="button primary"
              >
                Try {versionName(shown)}
              </Link>
            ) : null}
          </>
        )
      }
    >
      {isEditing ? null : (
        <HeadTools>
          <TimeMenu
            span={span}
            onChange={(next) => change({ range: next.range, from: next.from, to: next.to })}
          />
        </HeadTools>
      )}
      <QueryStatus queries={[found, listed]} loading="Loading the prompt…" />
      {found.data === null ? (
        <Notice kind="error">This prompt does not exist: it was deleted, or the link is incomplete.</Notice>
      ) : null}
      {found.data && versions && !shown ? (
        <Notice kind="error">
          {name} has no version {version}: it was deleted, or a program counts versions in another way.
        </Notice>
      ) : null}
      {found.data && versions && shown && !form ? (
        <Shown
          search={search}
          prompt={found.data.prompt}
          history={found.data.history}
          versions={versions}
          shown={shown}
          period={period}
        />
      ) : null}
      {isEditing && !mayWrite ? <Lacking project={project} needs="write" what="to save a version" /> : null}
      {isEditing && mayWrite ? (
        <>
          <QueryStatus queries={[value]} loading="Loading the version…" />
          {value.isSuccess ? (
            <PromptEditor
              key={shown.digest}
              project={project}
              name={name}
              value={value.data}
              index={shown.version_index}
              newest={versions?.[0]?.version_index ?? shown.version_index}
            />
          ) : null}
        </>
      ) : null}
    </View>
  );
};
