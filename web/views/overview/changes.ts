import type { Figures, GroupFigures } from './figures.ts';

/** In what way a group became worse. */
export type Worse = 'slower' | 'dearer' | 'faultier';

/** What became worse than in the period before. */
export interface Change {
  readonly group: string;
  readonly worse: Worse;
  /** p95 in ms, cost of a call, or the share of calls that failed. */
  readonly before: number;
  readonly now: number;
}

/** With fewer calls in either period, a difference says nothing. */
const minCalls = 5;

/** How much worse something has to be to be told: less comes and goes by itself. */
const minSlower = 1.2;
const minSlowerMs = 20;
const minDearer = 1.1;
const minFaultier = 0.02;

/** The cost of a call on average; undefined without prices. */
export const costOfCall = ({ cost, calls }: Figures): number | undefined =>
  cost === undefined || calls === 0 ? undefined : cost / calls;

/** The share of calls that failed. */
export const errorRate = ({ errors, calls }: Figures): number => (calls === 0 ? 0 : errors / calls);

const slower = (before: Figures, now: Figures): readonly [number, number] | undefined => {
  const [from, to] = [before.p95, now.p95];
  if (from === undefined || to === undefined) return undefined;
  return to >= from * minSlower && to - from >= minSlowerMs ? [from, to] : undefined;
};

const dearer = (before: Figures, now: Figures): readonly [number, number] | undefined => {
  const [from, to] = [costOfCall(before), costOfCall(now)];
  return from !== undefined && to !== undefined && from > 0 && to >= from * minDearer
    ? [from, to]
    : undefined;
};

const faultier = (before: Figures, now: Figures): readonly [number, number] | undefined => {
  const [from, to] = [errorRate(before), errorRate(now)];
  return to - from >= minFaultier ? [from, to] : undefined;
};

const tests = { faultier, slower, dearer } as const;

/** How bad a change is, to put the worst first: by how often its group is called, and how much. */
const weightOf = ({ before, now }: Change, calls: number): number =>
  Math.log2(Math.min(64, now / (before || now / 64))) * Math.log2(1 + calls);

/** What became slower, dearer or more faulty, the worst first. */
export const changesOf = (before: readonly GroupFigures[], now: readonly GroupFigures[]): Change[] => {
  const earlier = new Map(before.map((figures) => [figures.group, figures]));
  const weighed = now.flatMap((figures) => {
    const { group, calls } = figures;
    const old = earlier.get(group);
    if (group === null || !old || calls < minCalls || old.calls < minCalls) return [];
    return (Object.keys(tests) as Worse[]).flatMap((worse) => {
      const found = tests[worse](old, figures);
      if (!found) return [];
      const change: Change = { group, worse, before: found[0], now: found[1] };
      return [{ change, weight: weightOf(change, calls) }];
    });
  });
  return weighed.sort((a, b) => b.weight - a.weight).map(({ change }) => change);
};
