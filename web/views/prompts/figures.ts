import type { Stats, StatsBucket, StatsQuery } from '../../api/contract.ts';
import { type Figures, noLatencies, toFigures } from '../../calls/figures/figures.ts';
import { figuresRequest, iso, type Span, timezone, whole } from '../../calls/figures/requests.ts';
import { type ScoreFigures, toScoreOfCalls } from '../../calls/figures/scores.ts';
import { selectionOf } from '../../calls/list/request.ts';
import type { Score } from '../../calls/scores.ts';
import { parseLiteral, typedText } from '../../data/values.ts';
import type { Condition, TracesSearch } from '../../navigation/search.ts';

/* What calls say of prompts: their figures by prompt, and those of one prompt by version. */

export const namePath = 'attributes.prompt.name';
export const versionPath = 'attributes.prompt.version';

type Path = typeof namePath | typeof versionPath;

/** The condition that the calls of a prompt fulfil. */
const isOfPrompt = (name: string): Condition => ({ path: namePath, op: 'is', value: typedText(name) });

/**
 * The calls of a prompt in production.
 *
 * @param version as the calls have it, typed as a filter has it @default - all
 */
export const callsOfPrompt = (project: string, name: string, version?: string): TracesSearch => ({
  project,
  all: true,
  where: [
    isOfPrompt(name),
    ...(version === undefined ? [] : [{ path: versionPath, op: 'is' as const, value: version }]),
  ],
});

/** The calls that name any prompt, or one. */
export const selectionOfPrompts = (project: string, name?: string) =>
  selectionOf(
    name === undefined
      ? { project, all: true, where: [{ path: namePath, op: 'exists', value: '' }] }
      : callsOfPrompt(project, name),
  );

type Selection = ReturnType<typeof selectionOfPrompts>;

/** Figures of a span: by prompt, or by version. */
export const groupsRequest = (selection: Selection, span: Span, path: Path): StatsQuery => ({
  ...figuresRequest(selection, span, whole, namePath),
  group_by: [path],
});

/** A score of a span: by prompt, or by version. */
export const scoreRequest = (
  selection: Selection,
  { start, end }: Span,
  path: Path,
  { type, field }: Score,
): StatsQuery => ({
  ...selection,
  start: iso(start),
  end: iso(end),
  granularity: whole,
  timezone: timezone(),
  call_metrics: [{ metric: 'call_count' }],
  group_by: [path],
  group_by_feedback: { feedback_type: type, path: field },
});

/** What a group is called, typed as a filter has it; undefined for what is in none. */
const keyOf = (bucket: StatsBucket, path: Path): string | undefined => {
  const value = bucket[path];
  if (typeof value === 'string') return typedText(value);
  return typeof value === 'number' ? String(value) : undefined;
};

type Answered = Pick<Stats, 'call_buckets' | 'usage_buckets' | 'granularity'>;

/** The figures of each group. */
export const toGroups = (answer: Answered, path: Path): ReadonlyMap<string, Figures> => {
  const usages = Map.groupBy(answer.usage_buckets, (bucket) => keyOf(bucket, path));
  return new Map(
    [...Map.groupBy(answer.call_buckets, (bucket) => keyOf(bucket, path))].flatMap(([key, calls]) =>
      key === undefined ? [] : [[key, toFigures(calls, usages.get(key) ?? [])]],
    ),
  );
};

/** A score of each group that has it. */
export const toGroupScores = (
  answer: Answered,
  path: Path,
  span: Span,
  score: Score,
): ReadonlyMap<string, ScoreFigures> =>
  new Map(
    [...Map.groupBy(answer.call_buckets, (bucket) => keyOf(bucket, path))].flatMap(([key, call_buckets]) => {
      const figures = toScoreOfCalls({ call_buckets, granularity: answer.granularity }, span, score);
      return key === undefined || !figures ? [] : [[key, figures]];
    }),
  );

/** A group of calls whose version of a prompt is there or not. */
export interface VersionGroup {
  /** As the calls have it, typed as a filter has it. */
  readonly key: string;
  /** The number of the version; undefined if they name none that is known. */
  readonly index: number | undefined;
}

/** Which version each group is of: calls name it by its number or its digest. */
export const toVersionGroups = (
  keys: Iterable<string>,
  versions: readonly { readonly digest: string; readonly version_index: number }[],
): readonly VersionGroup[] =>
  [...keys].map((key) => {
    const named = String(parseLiteral(key));
    const number = /^v?(\d+)$/.exec(named)?.[1];
    const found = versions.find(({ digest, version_index }) =>
      number === undefined ? digest === named : version_index === Number(number),
    );
    return { key, index: found?.version_index };
  });

/** The figures of calls that name the same version in several ways; undefined for none. */
export const mergeFigures = (all: readonly Figures[]): Figures | undefined => {
  const [first, ...others] = all;
  return others.reduce<Figures | undefined>(
    (sum, figures) =>
      sum && {
        calls: sum.calls + figures.calls,
        errors: sum.errors + figures.errors,
        tokens: sum.tokens + figures.tokens,
        cost:
          sum.cost === undefined && figures.cost === undefined
            ? undefined
            : (sum.cost ?? 0) + (figures.cost ?? 0),
        // Percentiles of parts cannot be put together.
        ...noLatencies,
      },
    first,
  );
};
