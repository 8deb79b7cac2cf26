import { keepPreviousData } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import type { CallRow } from '../../api/calls.ts';
import { type ContextOfMany, readContexts } from '../../calls/data.ts';
import { percentText } from '../../calls/figures/figures.ts';
import type { TraceState } from '../../calls/trace/trace-state.ts';
import { costText, countedText, countText, kindsText, tokensText } from '../../data/format.ts';
import { useRead } from '../../session/session.tsx';
import { Moment, QueryStatus, Table, type TableColumn } from '../../ui/controls.tsx';
import { Choice } from '../../ui/fields.tsx';
import {
  type Context,
  evenly,
  findConversations,
  findSaving,
  type Growth,
  partKinds,
  partTitles,
  savingText,
  toGrowth,
  tokensByKind,
} from './context.ts';

const percent = (part: number, whole: number): string => `${(part / (whole || 1)) * 100}%`;

/** A line of a legend: a kind of part, or what is named of it. */
interface LegendRow {
  readonly key: string;
  readonly kind?: (typeof partKinds)[number];
  readonly title: string;
  readonly tokens: number;
  readonly cost: number | undefined;
}

/** So many names of a kind have a line of their own. */
const maxNames = 12;

const toLegend = ({ parts }: Context): LegendRow[] =>
  partKinds.flatMap((kind) => {
    const own = parts.filter(({ part }) => part === kind);
    if (own.length === 0) return [];
    const sumOf = (some: typeof own) => ({
      tokens: some.reduce((sum, { tokens }) => sum + tokens, 0),
      cost: some.every(({ cost_usd }) => cost_usd !== undefined)
        ? some.reduce((sum, { cost_usd = 0 }) => sum + cost_usd, 0)
        : undefined,
    });
    const named = own.filter(({ name }) => name !== undefined);
    const others = named.slice(maxNames);
    return [
      { key: kind, kind, title: partTitles[kind], ...sumOf(own) },
      ...named.slice(0, maxNames).map((part) => ({
        key: `${kind} ${part.name}`,
        title: part.name ?? '',
        ...sumOf([part]),
      })),
      ...(others.length > 0
        ? [{ key: `${kind} others`, title: `${countText(others.length)} others`, ...sumOf(others) }]
        : []),
    ];
  });

const legendColumns = (input: number): TableColumn<LegendRow>[] => [
  {
    title: 'Part',
    className: 'break',
    cell: ({ kind, title }) => (
      <span className={kind ? 'part-title' : 'part-name'} dir="auto">
        {kind ? <span className="swatch" data-part={kind} aria-hidden="true" /> : null}
        {title}
      </span>
    ),
  },
  { title: 'Tokens', className: 'numeric', cell: ({ tokens }) => countText(tokens) },
  { title: 'Share', className: 'numeric', cell: ({ tokens }) => percentText(tokens / (input || 1)) },
  {
    title: 'Cost',
    className: 'numeric',
    cell: ({ cost }) => (cost === undefined ? '' : costText(cost)),
  },
];

/** The input of a request as a bar of its parts, in the order in which models read them. */
const ContextBar = ({ context }: { context: Context }) => {
  const { input_tokens: input, cache_read_tokens: cached } = context;
  const kinds = tokensByKind(context);
  const told = partKinds.flatMap((kind) => {
    const tokens = kinds.get(kind) ?? 0;
    return tokens > 0 ? [`${partTitles[kind]} ${percentText(tokens / (input || 1))}`] : [];
  });
  return (
    <div
      className="context-bar"
      role="img"
      aria-label={`${told.join(', ')}. ${kindsText({ cached, reasoning: 0 })}`}
    >
      {partKinds.map((kind) =>
        kinds.has(kind) ? (
          <span key={kind} data-part={kind} style={{ inlineSize: percent(kinds.get(kind) ?? 0, input) }} />
        ) : null,
      )}
      {cached > 0 ? (
        <span
          className="cached-part"
          title="read from the cache"
          style={{ inlineSize: percent(cached, input) }}
        />
      ) : null}
    </div>
  );
};

/** What is said where a program reports counts alone. */
const Untold = ({ contexts }: { contexts: readonly Context[] }) =>
  contexts.every(({ parts }) => parts.every(({ part }) => part === 'other')) ? (
    <p className="hint">The program did not report what it sent: all of it is other.</p>
  ) : null;

/** What filled the window of a request: a bar and its legend. */
const ContextParts = ({ context }: { context: Context }) => {
  const { input_tokens: input, cache_read_tokens: cached, counted } = context;
  return (
    <div className="stack">
      <p className="facts">
        <span>{countText(input)} tokens of input</span>
        {cached > 0 ? (
          <span className="part-title">
            <span className="swatch cached-part" aria-hidden="true" />
            {countText(cached)} from the cache
          </span>
        ) : null}
        <span title="Models count the input as a whole: parts are estimated by their text.">
          {counted ? 'parts are estimated' : 'estimated'}
        </span>
      </p>
      <ContextBar context={context} />
      <Untold contexts={[context]} />
      <div className="scroll-x">
        <Table
          className="context-legend"
          columns={legendColumns(input)}
          rows={toLegend(context)}
          getKey={({ key }) => key}
        />
      </div>
    </div>
  );
};

/** What filled the window of the selected request to a model. */
export const ContextPanel = ({ call }: { call: CallRow }) => {
  const { project_id: project, id, ended_at } = call;
  const query = useRead(
    ['context', project, id, ended_at],
    async ({ client, signal }) => {
      const context = await client.ask('/call/context', { project_id: project, id }, signal);
      return 'parts' in context ? context : undefined;
    },
    { staleTime: Number.POSITIVE_INFINITY },
  );
  return (
    <>
      <QueryStatus queries={[query]} loading="Adding up the window…" />
      {query.data ? <ContextParts context={query.data} /> : null}
    </>
  );
};

/** Charts are drawn in a square of a hundred units, which the page stretches. */
const size = 100;

const toArea = (points: readonly (readonly [low: number, high: number])[], most: number): string => {
  const x = (i: number) => (points.length < 2 ? (i > 0 ? size : 0) : (i * size) / (points.length - 1));
  const y = (tokens: number) => size - (tokens / (most || 1)) * size;
  const upper = points.map(([, high], i) => `${x(i)},${y(high)}`);
  const lower = points.map(([low], i) => `${x(i)},${y(low)}`).reverse();
  return [...upper, ...lower].join(' ');
};

interface AreaProps {
  readonly growth: readonly Growth[];
  readonly selected: string | undefined;
  readonly onSelect: (call: string) => void;
}

/** How the window of a conversation grew: its parts upon each other, request by request. */
const ContextArea = ({ growth, selected, onSelect }: AreaProps) => {
  const most = Math.max(...growth.map(({ context }) => context.input_tokens));
  const kinds = growth.map(({ context }) => tokensByKind(context));
  const heights = growth.map(() => 0);
  const areas = partKinds.flatMap((kind) => {
    if (!kinds.some((tokens) => tokens.has(kind))) return [];
    const points = kinds.map((tokens, i): [number, number] => {
      const low = heights[i] ?? 0;
      heights[i] = low + (tokens.get(kind) ?? 0);
      return [low, heights[i] ?? low];
    });
    return [{ kind, points: toArea(points, most) }];
  });
  const isCached = growth.some(({ context }) => context.cache_read_tokens > 0);
  const cached = growth.map(({ context }): [number, number] => [0, context.cache_read_tokens]);
  return (
    <figure className="context-area">
      <span className="context-most">{tokensText(most)}</span>
      <div className="context-plot">
        <svg
          viewBox={`0 0 ${size} ${size}`}
          preserveAspectRatio="none"
          role="img"
          aria-label={`The window of ${countedText(growth.length, 'request')}, up to ${countText(most)} tokens`}
        >
          {areas.map(({ kind, points }) => (
            <polygon key={kind} data-part={kind} points={points} />
          ))}
          {isCached ? <polygon className="cached-area" points={toArea(cached, most)} /> : null}
        </svg>
        <div className="context-steps" aria-hidden="true">
          {growth.map(({ context, paidAgain, compactedFrom }) => (
            <button
              key={context.id}
              type="button"
              tabIndex={-1}
              className={`${compactedFrom === undefined ? '' : 'compacted'} ${context.id === selected ? 'selected' : ''}`}
              title={`${countText(context.input_tokens)} tokens, ${countText(context.cache_read_tokens)} from the cache, ${countText(paidAgain)} paid again${compactedFrom === undefined ? '' : `; compacted from ${countText(compactedFrom)}`}`}
              onClick={() => onSelect(context.id)}
            />
          ))}
        </div>
      </div>
      <figcaption className="facts">
        {areas.map(({ kind }) => (
          <span key={kind} className="part-title">
            <span className="swatch" data-part={kind} aria-hidden="true" /> {partTitles[kind]}
          </span>
        ))}
        {isCached ? (
          <span className="part-title">
            <span className="swatch cached-part" aria-hidden="true" /> from the cache
          </span>
        ) : null}
        <span>parts are estimated</span>
      </figcaption>
    </figure>
  );
};

const costOf = ({ parts }: Context): number | undefined =>
  parts.every(({ cost_usd }) => cost_usd !== undefined)
    ? parts.reduce((sum, { cost_usd = 0 }) => sum + cost_usd, 0)
    : undefined;

interface RequestRow extends Growth {
  readonly call: CallRow;
}

const requestColumns = (onSelect: (call: string) => void): TableColumn<RequestRow>[] => [
  {
    title: 'Request',
    cell: ({ call }) => (
      <button type="button" className="as-link" onClick={() => onSelect(call.id)}>
        <Moment time={call.started_at} />
      </button>
    ),
  },
  { title: 'Input', className: 'numeric', cell: ({ context }) => countText(context.input_tokens) },
  { title: 'From cache', className: 'numeric', cell: ({ context }) => countText(context.cache_read_tokens) },
  { title: 'Sent again', className: 'numeric', cell: ({ again }) => countText(again) },
  { title: 'Paid again', className: 'numeric', cell: ({ paidAgain }) => countText(paidAgain) },
  {
    title: 'Input cost',
    className: 'numeric',
    cell: ({ context }) => {
      const cost = costOf(context);
      return cost === undefined ? '' : costText(cost);
    },
  },
  {
    title: 'Note',
    cell: ({ compactedFrom }) =>
      compactedFrom === undefined ? '' : `compacted from ${countText(compactedFrom)}`,
  },
];

/** The most requests of a trace whose windows are read. */
const maxRequests = 100;

/** What filled the windows of some requests, in their order. */
const useContexts = (project: string, calls: readonly CallRow[]) =>
  useRead(
    ['contexts', project, calls.map(({ id, ended_at }) => [id, ended_at])],
    (reading) =>
      readContexts(
        reading,
        project,
        calls.map(({ id }) => id),
      ),
    { enabled: calls.length > 0, staleTime: Number.POSITIVE_INFINITY, placeholderData: keepPreviousData },
  );

interface ContextViewProps {
  readonly state: TraceState;
  readonly project: string;
  readonly onSelect: (call: string) => void;
}

/** How the windows of a trace's requests grew, what each paid again, and what would save most. */
export const ContextView = ({ state, project, onSelect }: ContextViewProps) => {
  const { all, selected } = state;
  const conversations = useMemo(() => findConversations(all), [all]);
  const requests = useMemo(
    () => conversations.flatMap((conversation) => conversation.requests.map(({ call }) => call)),
    [conversations],
  );
  const read = useMemo(() => evenly(requests, maxRequests), [requests]);
  const query = useContexts(project, read);
  const [chosen, setChosen] = useState<string>();
  const byId = useMemo(
    () => new Map((query.data ?? []).map((context): [string, ContextOfMany] => [context.id, context])),
    [query.data],
  );
  const known = conversations
    .map(({ requests: own, ...conversation }) => ({
      ...conversation,
      contexts: own.flatMap(({ call }) => byId.get(call.id) ?? []),
    }))
    .filter(({ contexts }) => contexts.length > 0);
  const tools = all.flatMap(({ node }) => (node.kind === 'tool' ? [node.name] : []));
  const saving = findSaving(
    known.map(({ contexts }) => contexts),
    tools,
  );
  const shown = known.find(({ key }) => key === chosen) ?? known[0];
  const calls = new Map(read.map((call) => [call.id, call]));
  const rows = toGrowth(shown?.contexts ?? []).flatMap((growth): RequestRow[] => {
    const call = calls.get(growth.context.id);
    return call ? [{ ...growth, call }] : [];
  });
  const [only] = rows;
  if (requests.length === 0) return <p className="muted">This trace has no requests to models.</p>;
  return (
    <div className="stack">
      <QueryStatus queries={[query]} loading="Adding up the windows…" />
      {query.data && !shown ? (
        <p className="muted">Its requests to models tell neither messages nor usage.</p>
      ) : null}
      {saving ? (
        <p className="saving">
          <strong>Would save most:</strong> <span dir="auto">{savingText(saving)}</span>
        </p>
      ) : null}
      {known.length > 1 && shown ? (
        <Choice
          label="Requests of"
          className="compared"
          value={shown.key}
          options={known.map(({ key, title }) => [key, title] as const)}
          onChange={setChosen}
        />
      ) : null}
      {read.length < requests.length && query.data ? (
        <p className="hint">
          {countText(read.length)} of {countText(requests.length)} requests, evenly chosen.
        </p>
      ) : null}
      {rows.length === 1 && only ? <ContextParts context={only.context} /> : null}
      {rows.length > 1 ? (
        <>
          <Untold contexts={rows.map(({ context }) => context)} />
          <ContextArea growth={rows} selected={selected} onSelect={onSelect} />
          <details>
            <summary>{countedText(rows.length, 'request')} in figures</summary>
            <div className="scroll-x">
              <Table columns={requestColumns(onSelect)} rows={rows} getKey={({ call }) => call.id} />
            </div>
          </details>
        </>
      ) : null}
    </div>
  );
};
