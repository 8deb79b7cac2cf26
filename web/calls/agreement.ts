/** What one person answered. */
export type Value = boolean | number | string;

/** Whether a value can be an answer. */
export const isAnswer = (value: unknown): value is Value =>
  typeof value === 'boolean' || typeof value === 'number' || typeof value === 'string';

/** An answer in words. */
export const valueText = (value: Value): string =>
  typeof value === 'boolean' ? (value ? 'yes' : 'no') : String(value);

/** How far people agree. */
export interface Agreement {
  /** How many items at least two people answered. */
  readonly items: number;
  /** The share of pairs of answers to the same item that are equal, from 0 to 1. */
  readonly share: number;
  /**
   * Krippendorff's alpha: 1 if all agree, 0 if they agree as often as chance would have it, below 0
   * if less. For two people who answer the same items it comes close to Cohen's kappa. Undefined if
   * there was one answer alone, again and again.
   */
  readonly alpha: number | undefined;
}

/**
 * How far people agree, whoever they are and however many answered each item. Numbers are the further
 * apart the more they differ; other answers are equal or not.
 *
 * Krippendorff, Computing Krippendorff's Alpha-Reliability, 2011, section E.
 *
 * @param items the answers to each item, one of each person
 * @returns undefined if nobody answered what another did
 */
export const computeAgreement = (items: readonly (readonly Value[])[]): Agreement | undefined => {
  const shared = items.filter(({ length }) => length > 1);
  if (shared.length === 0) return undefined;
  const all = shared.flat();
  const areNumbers = all.every((value) => typeof value === 'number');
  const difference = (a: Value, b: Value): number =>
    areNumbers ? (Number(a) - Number(b)) ** 2 : a === b ? 0 : 1;
  /** The sum of a measure over all pairs of some answers, by how often each answer is there. */
  const sumPairs = (values: readonly Value[], measure: (a: Value, b: Value) => number): number => {
    const counts = [...Map.groupBy(values, (value) => value)].map(
      ([value, same]) => [value, same.length] as const,
    );
    let sum = 0;
    for (const [a, count] of counts)
      for (const [b, other] of counts) sum += measure(a, b) * count * (a === b ? other - 1 : other);
    return sum;
  };
  const isSame = (a: Value, b: Value): number => (a === b ? 1 : 0);
  let same = 0;
  let pairs = 0;
  let observed = 0;
  for (const values of shared) {
    same += sumPairs(values, isSame);
    pairs += values.length * (values.length - 1);
    observed += sumPairs(values, difference) / (values.length - 1);
  }
  const expected = sumPairs(all, difference) / (all.length - 1);
  return {
    items: shared.length,
    share: same / pairs,
    alpha: expected === 0 ? undefined : 1 - observed / expected,
  };
};
