import { useState } from 'react';
import { opText } from '../../api/calls.ts';
import type { Operation, StatsQuery } from '../../api/contract.ts';
import { tagIn } from '../../api/feedback.ts';
import { guessKind } from '../../api/kind.ts';
import { countText } from '../../data/format.ts';
import { isObject, typedText } from '../../data/values.ts';
import { type Condition, isOfAllCalls, type TracesSearch } from '../../navigation/search.ts';
import { type Reading, useRead } from '../../session/session.tsx';
import { Button, QueryStatus } from '../../ui/controls.tsx';
import { readRows } from '../data.ts';
import { whole } from '../figures/requests.ts';
import { countedFrom, readTypes } from '../figures/tags.ts';
import { filterOf, toSources } from '../list/request.ts';
import { hasTag, type Score, scoreText, toScorePath } from '../scores.ts';

/** A value with how many calls have it. */
interface Suggestion {
  readonly value: string;
  readonly count: number;
  /** @default - the one that its facet makes of the value */
  readonly condition?: Condition;
}

/** Something that lists are filtered by, with its values to choose from. */
interface Facet {
  readonly title: string;
  /** The field that statistics are grouped by; undefined where they are not. */
  readonly field?: NonNullable<StatsQuery['group_by']>[number];
  /** Whether roots do not have it as a rule, so that the list has to show all calls. @default false */
  readonly below?: boolean;
  readonly read: (reading: Reading, span: StatsQuery) => Promise<Suggestion[]>;
  /** The condition that calls with a value fulfil. */
  readonly toCondition: (value: string) => Condition;
}

const sum = (bucket: Readonly<Record<string, unknown>>, name: string): number => {
  const value = bucket[name];
  return typeof value === 'number' ? value : 0;
};

const is = (path: string) => (value: string) => ({ path, op: 'is' as const, value: typedText(value) });

type GroupField = NonNullable<Facet['field']>;

/**
 * The values of a field of headers.
 *
 * @param below whether roots do not have it as a rule
 */
const ofField = (title: string, field: GroupField, below = false): Facet => ({
  title,
  field,
  below,
  read: async ({ client, signal }, span) => {
    const { call_buckets } = await client.ask('/calls/stats', { ...span, group_by: [field] }, signal);
    return call_buckets.flatMap((bucket) => {
      const value = bucket[field];
      return typeof value === 'string' ? [{ value, count: sum(bucket, 'sum_call_count') }] : [];
    });
  },
  toCondition: is(field),
});

const operations = ofField('Operation', 'op_name');

const toolName = 'attributes.tool.name';
const kindPath = 'attributes.kind';

const equal = (path: string, value: unknown): Operation => ({
  $eq: [{ $getField: path }, { $literal: value }],
});

const isTool: Operation = {
  $or: [equal(kindPath, 'tool'), { $ne: [{ $getField: toolName }, { $literal: null }] }],
};

/** Calls that do not say what they are: the names of their operations suggest it. */
const isSilent: Operation = { $and: [equal(kindPath, null), equal(toolName, null)] };

/** Tools by their names. Calls of tools that say none, or not even that they are, go by their operation. */
const tools: Facet = {
  title: 'Tool',
  below: true,
  read: async ({ client, signal }, span) => {
    const ask = async (operation: Operation, group_by: GroupField[]) => {
      const request: StatsQuery = { ...span, query: { $expr: operation }, group_by };
      return (await client.ask('/calls/stats', request, signal)).call_buckets;
    };
    const [said, silent] = await Promise.all([
      ask(isTool, [toolName, 'op_name']),
      ask(isSilent, ['op_name']),
    ]);
    const guessed = silent.filter(({ op_name: op }) => typeof op === 'string' && guessKind(op) === 'tool');
    const found = new Map<string, Suggestion>();
    for (const { [toolName]: tool, op_name: op, ...counts } of [...said, ...guessed]) {
      const isNamed = typeof tool === 'string' && tool !== '';
      const value = isNamed ? tool : op;
      if (typeof value !== 'string') continue;
      const condition = is(isNamed ? toolName : 'op_name')(value);
      const count = sum(counts, 'sum_call_count');
      const key = `${condition.path} ${value}`;
      found.set(key, { value, count: count + (found.get(key)?.count ?? 0), condition });
    }
    return [...found.values()];
  },
  toCondition: is(toolName),
};

/** Kinds as calls say them. Those that follow from the name of an operation are listed with it. */
const callKinds: Facet = {
  title: 'Kind',
  below: true,
  read: async ({ client, signal }, span) => {
    const request: StatsQuery = { ...span, group_by: [kindPath, 'op_name'] };
    const { call_buckets } = await client.ask('/calls/stats', request, signal);
    const found = new Map<string, Suggestion>();
    for (const { [kindPath]: kind, op_name: op, ...counts } of call_buckets) {
      const guess = typeof op === 'string' ? guessKind(op) : undefined;
      const isSaid = typeof kind === 'string' && kind !== '';
      if (!isSaid && (guess === undefined || typeof op !== 'string')) continue;
      const value = isSaid ? kind : `${guess}: ${opText(String(op))}`;
      const condition = isSaid ? is(kindPath)(kind) : is('op_name')(String(op));
      const count = sum(counts, 'sum_call_count') + (found.get(value)?.count ?? 0);
      found.set(value, { value, count, condition });
    }
    return [...found.values()];
  },
  toCondition: is(kindPath),
};

const models: Facet = {
  title: 'Model',
  below: true,
  read: async ({ client, signal }, { call_metrics: _calls, ...span }) => {
    const usage_metrics = [{ metric: 'total_tokens' as const, aggregations: ['count' as const] }];
    const { usage_buckets } = await client.ask('/calls/stats', { ...span, usage_metrics }, signal);
    return usage_buckets.flatMap((bucket) =>
      typeof bucket.model === 'string'
        ? [{ value: bucket.model, count: sum(bucket, 'count_total_tokens') }]
        : [],
    );
  },
  toCondition: (model) => ({ path: `summary.usage.${model}`, op: 'exists', value: '' }),
};

/** How many calls are looked through for tags, which no statistics know. */
const maxTagged = 100;

/** Tags that were reported, and those that people gave. */
const tags: Facet = {
  title: 'Tag',
  read: async (reading, { project_id, filter, start }) => {
    const [rows, types] = await Promise.all([
      readRows(reading, {
        project_id,
        ...(filter && { filter }),
        sort_by: [{ field: 'started_at', direction: 'desc' }],
        columns: ['attributes.tags'],
        limit: maxTagged,
      }),
      readTypes(reading, project_id, start),
    ]);
    const given = [...types].flatMap(([type, count]): Suggestion[] => {
      const tag = tagIn(type);
      return tag === undefined ? [] : [{ value: tag, count, condition: hasTag(tag) }];
    });
    const counts = new Map<string, number>();
    for (const { attributes } of rows) {
      const { tags: found } = (attributes ?? {}) as { tags?: unknown };
      for (const tag of Array.isArray(found) ? found : [])
        if (typeof tag === 'string') counts.set(tag, (counts.get(tag) ?? 0) + 1);
    }
    return [...given, ...[...counts].map(([value, count]) => ({ value, count }))];
  },
  // With its quotes, it is no other tag's beginning.
  toCondition: (tag) => ({ path: 'attributes.tags', op: 'contains', value: JSON.stringify(tag) }),
};

/** How many of the latest records of feedback are looked through for values of scores. */
const maxScored = 1000;

/** What feedback of a type is scored by: that of the page's own thumbs and scores, or its value. */
const scoreWith = (type: string): Score => ({
  type,
  field: type === 'thumbs' ? 'up' : type === 'score' ? 'score' : 'value',
});

/** Scores by their types: each value of those that are true or false or texts, and numbers as such. */
const scores: Facet = {
  title: 'Score',
  read: async ({ client, signal }, { project_id, start }) => {
    const { result } = await client.ask(
      '/feedback/query',
      {
        project_id,
        fields: ['feedback_type', 'payload'],
        query: { $expr: { $gte: [{ $getField: 'created_at' }, { $literal: start }] } },
        sort_by: [{ field: 'created_at', direction: 'desc' }],
        limit: maxScored,
      },
      signal,
    );
    const found = new Map<string, Suggestion>();
    for (const { feedback_type: type, payload } of result) {
      if (typeof type !== 'string' || type.includes(']') || tagIn(type) !== undefined) continue;
      const score = scoreWith(type);
      const value = isObject(payload) ? payload[score.field] : undefined;
      if (!['string', 'number', 'boolean'].includes(typeof value)) continue;
      const path = toScorePath(score);
      const condition: Condition =
        typeof value === 'number'
          ? { path, op: 'exists', value: '' }
          : { path, op: 'is', value: typeof value === 'string' ? typedText(value) : String(value) };
      const key = `${type} ${condition.value}`;
      const name = scoreText(score);
      const count = (found.get(key)?.count ?? 0) + 1;
      found.set(key, {
        value: condition.op === 'exists' ? name : `${name}: ${String(value)}`,
        count,
        condition,
      });
    }
    return [...found.values()];
  },
  toCondition: (type) => ({ path: toScorePath(scoreWith(type)), op: 'exists', value: '' }),
};

const facets: readonly Facet[] = [
  operations,
  tools,
  models,
  ofField('Agent', 'attributes.agent.name', true),
  ofField('End user', 'attributes.user.id'),
  ofField('Environment', 'attributes.environment'),
  ofField('Release', 'attributes.release'),
  tags,
  callKinds,
  ofField('Prompt', 'attributes.prompt.name', true),
  scores,
];

/** What has the values of paths that people type, beside those of the facets. */
const typed: readonly (readonly [path: string, facet: Facet])[] = [
  ['op_name', operations],
  ['inputs.model', models],
  ['attributes.tags', tags],
  ...(
    [
      'svc_user_id',
      'attributes.user.id',
      'attributes.environment',
      'attributes.release',
      'attributes.kind',
      'attributes.tool.name',
      'attributes.agent.name',
      'attributes.agent.version',
      'attributes.prompt.name',
      'attributes.prompt.version',
    ] as const
  ).map((path): [string, Facet] => [path, ofField(path, path, true)]),
];

/** The values that calls have at a path, the most frequent first; none where nobody counts them. */
export const useValues = (search: TracesSearch, path: string): readonly string[] => {
  const [now] = useState(() => Date.now());
  const facet = typed.find(([known]) => known === path)?.[1];
  const { data = [] } = useRead(
    ['values', path, search.project, search.range, search.from, search.to, search.source],
    (reading) => (facet ? facet.read(reading, facetRequest(search, facet, now)) : Promise.resolve([])),
    { enabled: facet !== undefined },
  );
  return [...new Set(data.toSorted((a, b) => b.count - a.count).map(({ value }) => opText(value)))];
};

const facetRequest = (search: TracesSearch, facet: Facet, now: number): StatsQuery => {
  const { project, range, to } = search;
  return {
    project_id: project,
    start: countedFrom(search, now),
    ...(!range && to && { end: new Date(Date.parse(to)).toISOString() }),
    granularity: whole,
    call_metrics: [{ metric: 'call_count' }],
    ...filterOf({
      ...(!facet.below && !isOfAllCalls(search) && { trace_roots_only: true }),
      ...toSources(search.source),
    }),
  };
};

/** How many values are listed. */
const shownValues = 50;

/** Whether a score is a number: its values are too many to be chosen from. */
const isNumber = (facet: Facet, { op }: Condition): boolean => facet === scores && op === 'exists';

interface FacetsProps {
  readonly search: TracesSearch;
  readonly onChoose: (condition: Condition, all: boolean) => void;
  /** Begins a condition on a number, which takes a bound. */
  readonly onBegin: (path: string) => void;
}

const Values = ({ search, facet, onChoose, onBegin }: FacetsProps & { readonly facet: Facet }) => {
  const [now] = useState(() => Date.now());
  const [sought, setSought] = useState('');
  const span = facetRequest(search, facet, now);
  const query = useRead(['values', facet.title, span], (reading) => facet.read(reading, span));
  const all = (query.data ?? []).toSorted((a, b) => b.count - a.count);
  const found = all.filter(({ value }) => value.toLowerCase().includes(sought.trim().toLowerCase()));
  const counted = facet.below || isOfAllCalls(search) ? 'calls' : 'traces';
  const time = search.range || search.from ? 'this time' : 'the last seven days';
  return (
    <div className="stack">
      <input
        aria-label={`Find a value of ${facet.title}`}
        placeholder={facet.title}
        value={sought}
        spellCheck={false}
        // biome-ignore lint/a11y/noAutofocus: whoever chose it wants one of its values
        autoFocus
        onChange={(event) => setSought(event.target.value)}
      />
      <QueryStatus queries={[query]} loading="Counting…" />
      {query.data && found.length === 0 ? (
        <p className="muted">
          {all.length === 0 ? 'No call in this period has one.' : 'None has this text.'}
        </p>
      ) : null}
      <ul className="values-list">
        {found.slice(0, shownValues).map(({ value, count, condition = facet.toCondition(value) }) => (
          <li key={`${condition.path} ${value}`}>
            <Button
              kind="quiet"
              onClick={() =>
                isNumber(facet, condition)
                  ? onBegin(condition.path)
                  : onChoose(condition, facet.below === true)
              }
            >
              <span className="cut" dir="auto">
                {opText(value)}
                {isNumber(facet, condition) ? ': above or below…' : ''}
              </span>
              <span className="muted">{countText(count)}</span>
            </Button>
          </li>
        ))}
      </ul>
      <p className="hint">
        {facet === scores
          ? `Counted in the latest ${countText(maxScored)} records of feedback.`
          : facet === tags
            ? `Counted in the newest ${maxTagged} ${counted}; those of people in all feedback of ${time}.`
            : `Counted in the ${counted} of ${time}.`}
      </p>
    </div>
  );
};

interface ChooserProps extends FacetsProps {
  /** The title of the one that shows its values. @default - none does */
  readonly chosen: string | undefined;
  readonly onFacet: (title: string | undefined) => void;
}

/** What lists are filtered by most. The one that is chosen shows its values, with how often each is there. */
export const Facets = ({ chosen, onFacet, ...props }: ChooserProps) => {
  const facet = facets.find(({ title }) => title === chosen);
  return (
    <>
      <div className="facets">
        {facets.map(({ title }) => (
          <Button
            key={title}
            kind="quiet"
            aria-pressed={title === chosen}
            onClick={() => onFacet(title === chosen ? undefined : title)}
          >
            {title}
          </Button>
        ))}
      </div>
      {facet ? <Values key={chosen} {...props} facet={facet} /> : null}
    </>
  );
};
