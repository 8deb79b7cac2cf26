import type { Answer, Stats, StatsBucket, StatsQuery } from '../../api/contract.ts';
import {
  type Change,
  type Figures,
  findChanges,
  nothing,
  numberAt,
  type Point,
  toFigures,
} from '../../calls/figures/figures.ts';
import { figuresRequest, type Selection, type Span, whole } from '../../calls/figures/requests.ts';
import { selectionOf } from '../../calls/list/request.ts';
import { typedText } from '../../data/values.ts';
import type { Changes, Condition, OtherSource, Time, TracesSearch } from '../../navigation/search.ts';

/* What statistics say of agents and tools: figures by name, by version, and what became worse. */

/** The nearest agent at or above a call, and the tool that a call is of, as the service finds them. */
export const agentGroup = 'agent';
export const toolGroup = 'tool';

/** What calls say themselves. */
export const agentPath = 'attributes.agent.name';
export const versionPath = 'attributes.agent.version';
export const releasePath = 'attributes.release';
export const toolPath = 'attributes.tool.name';
export const kindPath = 'attributes.kind';
export const promptPath = 'attributes.prompt.name';
export const promptVersionPath = 'attributes.prompt.version';
const tracePath = 'summary.svc.trace_name';

type Field = string;

/** Whose calls are counted. */
export interface Scope {
  readonly project: string;
  /** @default - production */
  readonly source?: OtherSource | undefined;
}

/** What a link from agents to tools takes along, and one back. */
export const sameTime = ({ project, source, range, from, to }: Scope & Changes<Time>) => ({
  project,
  source,
  range,
  from,
  to,
});

/** The condition that calls with a value fulfil. */
export const is = (path: string, value: string): Condition => ({ path, op: 'is', value: typedText(value) });

const exists = (path: string): Condition => ({ path, op: 'exists', value: '' });

/** Calls of all levels under some conditions. */
export const callsWhere = ({ project, source }: Scope, ...where: readonly Condition[]): TracesSearch => ({
  project,
  all: true,
  ...(source && { source }),
  ...(where.length > 0 && { where }),
});

/**
 * Which calls are an agent's or a tool's, as far as a filter can tell.
 *
 * @param isNamed whether calls name it, rather than that their operation does
 */
export const ofAgent = (scope: Scope, agent: string, isNamed: boolean): TracesSearch =>
  callsWhere(scope, is(isNamed ? agentPath : tracePath, agent));

export const ofTool = (scope: Scope, tool: string, isNamed: boolean): TracesSearch =>
  callsWhere(scope, is(isNamed ? toolPath : tracePath, tool));

/** The runs of an agent: the calls that stand for itself. */
export const runsOf = (scope: Scope, agent: string, isNamed: boolean): TracesSearch => {
  const calls = ofAgent(scope, agent, isNamed);
  return isNamed ? { ...calls, where: [...(calls.where ?? []), is(kindPath, 'agent')] } : calls;
};

/** All calls. */
export const selectionOfAll = (scope: Scope): Selection => selectionOf(callsWhere(scope));

/** The calls that name an agent. */
export const selectionOfNamed = (scope: Scope): Selection =>
  selectionOf(callsWhere(scope, exists(agentPath)));

/** The runs of all agents that are named. */
export const selectionOfRuns = (scope: Scope): Selection =>
  selectionOf(callsWhere(scope, exists(agentPath), is(kindPath, 'agent')));

const usageMetrics: NonNullable<StatsQuery['usage_metrics']> = [
  { metric: 'total_tokens', aggregations: ['sum', 'count'] },
  { metric: 'total_cost' },
  { metric: 'input_tokens' },
  { metric: 'input_cost' },
  { metric: 'cache_read_input_tokens' },
];

/** Figures of a span by one or two fields, with the tokens that came from caches. */
export const groupsRequest = (
  selection: Selection,
  span: Span,
  group_by: readonly Field[],
  granularity = whole,
): StatsQuery => {
  const { call_metrics = [], ...request } = figuresRequest(selection, span, granularity, undefined);
  return {
    ...request,
    call_metrics: [
      ...(call_metrics ?? []),
      { metric: 'trace_count' },
      { metric: 'waited_ms', aggregations: ['sum', 'count'] },
    ],
    usage_metrics: usageMetrics,
    group_by: [...group_by],
  };
};

/** The same without latencies: these sums can be added up over time. */
export const sumsRequest = (
  selection: Selection,
  span: Span,
  group_by: readonly Field[],
  granularity: number,
): StatsQuery => ({
  ...groupsRequest(selection, span, group_by, granularity),
  call_metrics: [{ metric: 'call_count' }, { metric: 'error_count' }],
});

/** The same without usage. */
export const countsRequest = (
  selection: Selection,
  span: Span,
  group_by: readonly Field[],
  granularity = whole,
): StatsQuery => {
  const { usage_metrics: _usage, ...request } = groupsRequest(selection, span, group_by, granularity);
  return request;
};

/** Figures with the share of the input that came from caches. */
export interface UsedFigures extends Figures {
  readonly input: number;
  readonly cacheRead: number;
  /** What the input cost; undefined if no model has a price. */
  readonly inputCost: number | undefined;
  /** How many traces the calls are of: exact for one bucket. */
  readonly traces: number;
  /** How many calls waited for a person, and for how long together, in ms. */
  readonly waits: number;
  readonly waitedMs: number;
}

export const noFigures: UsedFigures = {
  ...nothing,
  input: 0,
  cacheRead: 0,
  inputCost: undefined,
  traces: 0,
  waits: 0,
  waitedMs: 0,
};

const sumOf = (buckets: readonly StatsBucket[], name: string): number =>
  buckets.reduce((sum, bucket) => sum + (numberAt(bucket, name) ?? 0), 0);

/** The buckets of one group put together. Statistics sum costs up to 0 where no model has a price. */
const toUsed = (calls: readonly StatsBucket[], usage: readonly StatsBucket[]): UsedFigures => {
  const figures = toFigures(calls, usage);
  return {
    ...figures,
    cost: figures.cost || undefined,
    input: sumOf(usage, 'sum_input_tokens'),
    cacheRead: sumOf(usage, 'sum_cache_read_input_tokens'),
    inputCost: sumOf(usage, 'sum_input_cost') || undefined,
    traces: sumOf(calls, 'sum_trace_count'),
    waits: sumOf(calls, 'count_waited_ms'),
    waitedMs: sumOf(calls, 'sum_waited_ms'),
  };
};

/** The share of the input that came from caches; undefined without any. */
export const cachedShare = ({ input, cacheRead }: UsedFigures): number | undefined =>
  input === 0 ? undefined : cacheRead / input;

/** The name of a group: a text or a number; null for what is in none. */
const nameAt = (bucket: StatsBucket, path: string): string | null => {
  const value = bucket[path];
  return typeof value === 'string' && value !== '' ? value : typeof value === 'number' ? String(value) : null;
};

type Answered = Pick<Stats, 'call_buckets' | 'usage_buckets'>;

/** The part of an answer in which a field has a value. */
const partOf = ({ call_buckets, usage_buckets }: Answered, path: string, name: string | null): Answered => ({
  call_buckets: call_buckets.filter((bucket) => nameAt(bucket, path) === name),
  usage_buckets: usage_buckets.filter((bucket) => nameAt(bucket, path) === name),
});

/** The part of an answer in which a field has a value. Its other field is what it is told apart by. */
export const within = <Of extends Answered>(answer: Of, path: string, name: string): Of => ({
  ...answer,
  ...partOf(answer, path, name),
});

/** The figures of each value of a field, in the order of the answer. Latencies are those of its first bucket. */
export const groupsBy = (answer: Answered, path: string): ReadonlyMap<string | null, UsedFigures> => {
  const usages = Map.groupBy(answer.usage_buckets, (bucket) => nameAt(bucket, path));
  return new Map(
    [...Map.groupBy(answer.call_buckets, (bucket) => nameAt(bucket, path))].map(([name, calls]) => [
      name,
      toUsed(calls, usages.get(name) ?? []),
    ]),
  );
};

/** A version of an agent, or a release of the program that it is in. */
export interface VersionFigures {
  readonly name: string;
  /** Its runs, and what all of its calls cost. */
  readonly runs: UsedFigures;
  /** All of its calls. */
  readonly calls: UsedFigures;
  /** When it was first and last seen, in buckets of the period: ms since 1970. */
  readonly first: number;
  readonly last: number;
}

/** Since when the versions are compared that are the same age: as their names count. */
const byAge = (a: VersionFigures, b: VersionFigures): number =>
  b.first - a.first || b.last - a.last || b.name.localeCompare(a.name, 'en', { numeric: true });

/**
 * The versions of an agent, the newest first: the one that was seen first last.
 *
 * @param runs figures of runs, of the whole time
 * @param sums of all calls, over time
 * @param path that of versions or of releases
 */
export const toVersions = (runs: Answered, sums: Answered, path: string): VersionFigures[] => {
  const ofRuns = groupsBy(runs, path);
  const times = Map.groupBy(sums.call_buckets, (bucket) => nameAt(bucket, path));
  return [...groupsBy(sums, path)]
    .flatMap(([name, calls]): VersionFigures[] => {
      if (name === null) return [];
      const seen = (times.get(name) ?? []).map(({ timestamp }) => Date.parse(timestamp));
      const own = ofRuns.get(name) ?? noFigures;
      return [
        {
          name,
          runs: { ...own, cost: calls.cost, tokens: calls.tokens },
          calls,
          first: Math.min(...seen),
          last: Math.max(...seen),
        },
      ];
    })
    .sort(byAge);
};

/**
 * What became worse from one version to the next: how long runs take, what they cost, and how many calls fail.
 *
 * @param withoutVersion what calls of the agent cost that name no version: with any, the cost of a version is unknown
 */
export const changesBetween = (
  before: VersionFigures,
  now: VersionFigures,
  withoutVersion: number,
): Change[] => {
  const of = ({ runs, calls }: VersionFigures, isOfRuns: boolean) => [
    isOfRuns
      ? { group: now.name, ...runs, cost: withoutVersion > 0 ? undefined : runs.cost }
      : { group: now.name, ...calls },
  ];
  return [
    ...findChanges(of(before, false), of(now, false)).filter(({ worse }) => worse === 'faultier'),
    ...findChanges(of(before, true), of(now, true)).filter(({ worse }) => worse !== 'faultier'),
  ];
};

/** An agent, as its calls tell of it. */
export interface AgentRow {
  readonly name: string;
  /** Its runs; undefined if no call names it, so that only its operation does. */
  readonly runs: UsedFigures | undefined;
  /** All calls at and below its runs, but for those of agents below it. */
  readonly calls: UsedFigures;
  /** Whether each of them names it, so that lists of calls can show them. */
  readonly isComplete: boolean;
  /** The newest first, of this time and the one before it; undefined while nobody knows. */
  readonly versions: readonly VersionFigures[] | undefined;
  /** Whether these are releases, since the agent says no version. */
  readonly areReleases: boolean;
  /** What became worse since the version before; undefined if there was none. */
  readonly worse: readonly Change[] | undefined;
}

/** What is read of versions or of releases. */
export interface VersionAnswers {
  readonly runs: Answered;
  readonly sums: Answered;
}

interface AgentAnswers {
  /** By the nearest agent. */
  readonly figures: Answered;
  /** Of calls that name an agent, by agent and kind. */
  readonly named: Answered;
  readonly versions: VersionAnswers | undefined;
  readonly releases: VersionAnswers | undefined;
}

const versionsOf = (agent: string, { runs, sums }: VersionAnswers, path: string): VersionFigures[] =>
  toVersions(within(runs, agentPath, agent), within(sums, agentGroup, agent), path);

/** Whether there are agents that say no version of their own. */
export const lackVersions = ({ sums }: VersionAnswers): boolean =>
  [...groupsBy(sums, agentGroup).keys()].some(
    (agent) =>
      agent !== null &&
      [...groupsBy(within(sums, agentGroup, agent), versionPath).keys()].every((version) => version === null),
  );

/** Every agent with its figures. */
export const toAgents = ({ figures, named, versions, releases }: AgentAnswers): AgentRow[] => {
  const naming = groupsBy(named, agentPath);
  return [...groupsBy(figures, agentGroup)].flatMap(([name, calls]): AgentRow[] => {
    if (name === null) return [];
    const own = versions && versionsOf(name, versions, versionPath);
    const areReleases = own?.length === 0;
    const path = areReleases ? releasePath : versionPath;
    const answers = areReleases ? releases : versions;
    const known = areReleases ? releases && versionsOf(name, releases, releasePath) : own;
    const rest = answers && groupsBy(within(answers.sums, agentGroup, name), path).get(null)?.cost;
    const [newest, before] = known ?? [];
    return [
      {
        name,
        runs: naming.has(name)
          ? (groupsBy(within(named, agentPath, name), kindPath).get('agent') ?? noFigures)
          : undefined,
        calls,
        isComplete: naming.get(name)?.calls === calls.calls,
        versions: known,
        areReleases,
        worse: newest && before ? changesBetween(before, newest, rest ?? 0) : undefined,
      },
    ];
  });
};

/** A tool, as its calls tell of it. */
export interface ToolRow {
  readonly name: string;
  readonly calls: UsedFigures;
  /** Whether calls name it, rather than that their operation does. */
  readonly isNamed: boolean;
  /** The agents that call it, the one that does so most often first, with what they see of it. */
  readonly agents: readonly (readonly [agent: string | null, figures: UsedFigures])[];
  /** What became worse since the time before; undefined while nobody knows. */
  readonly worse: readonly Change[] | undefined;
}

interface ToolAnswers {
  /** By tool, and by what calls name themselves. */
  readonly figures: Answered;
  readonly before: Answered | undefined;
  readonly byAgent: Answered | undefined;
}

/** Every tool with its figures. */
export const toTools = ({ figures, before, byAgent }: ToolAnswers): ToolRow[] => {
  const earlier = before && groupsBy(before, toolGroup);
  return [...groupsBy(figures, toolGroup)].flatMap(([name, calls]): ToolRow[] => {
    if (name === null) return [];
    const agents = byAgent ? [...groupsBy(within(byAgent, toolGroup, name), agentGroup)] : [];
    const old = earlier?.get(name);
    return [
      {
        name,
        calls,
        isNamed: groupsBy(within(figures, toolGroup, name), toolPath).has(name),
        agents: agents.toSorted(([, a], [, b]) => b.calls - a.calls),
        worse: earlier && findChanges(old ? [{ group: name, ...old }] : [], [{ group: name, ...calls }]),
      },
    ];
  });
};

/** Points of which only one group is looked at: an agent's runs among all of its calls. */
export const pointsOfGroup = (points: readonly Point[], group: string): Point[] =>
  points.map((point) => ({ ...point, ...(point.groups.get(group) ?? nothing), groups: new Map() }));

/** A version of a prompt that an agent is made of. */
export interface PromptRow {
  readonly name: string;
  /** Null if calls name none. */
  readonly version: string | null;
  readonly figures: UsedFigures;
}

/** The prompts of calls by name and version, the one that is used most often first. */
export const toPrompts = (answer: Answered): PromptRow[] =>
  [...groupsBy(answer, promptPath).keys()]
    .flatMap((name) =>
      name === null
        ? []
        : [...groupsBy(within(answer, promptPath, name), promptVersionPath)].map(([version, figures]) => ({
            name,
            version,
            figures,
          })),
    )
    .sort((a, b) => b.figures.calls - a.figures.calls);

type Context = Extract<Answer<'/call/context'>, { readonly parts: unknown }>;

/** The share of the input of some requests that the results of each tool are, from 0 to 1. */
export const sharesOfResults = (contexts: readonly Pick<Context, 'parts'>[]): ReadonlyMap<string, number> => {
  const tokens = new Map<string, number>();
  let all = 0;
  for (const { parts } of contexts)
    for (const { part, name, tokens: count } of parts) {
      all += count;
      if (part === 'tool_results' && name !== undefined) tokens.set(name, (tokens.get(name) ?? 0) + count);
    }
  return new Map([...tokens].map(([name, count]) => [name, count / all]));
};

/** How often loops were seen in each agent. @param issues with their agents, null for what is outside of any */
export const sumLoops = (
  issues: readonly { readonly agents: readonly { readonly name: string | null; readonly count: number }[] }[],
): ReadonlyMap<string, number> => {
  const sums = new Map<string, number>();
  for (const { name, count } of issues.flatMap(({ agents }) => agents))
    if (name !== null) sums.set(name, (sums.get(name) ?? 0) + count);
  return sums;
};
