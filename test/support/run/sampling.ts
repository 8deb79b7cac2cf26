import { random } from '../values/random.ts';

/** Whether everything is tried rather than a sample of it: `npm run test:deep` sets `DEEP=1`. */
export const deep = process.env.DEEP === '1';

/** In whole days since 1970: a nightly run has another seed each time. */
const today = Math.floor(Date.now() / 86_400_000);

/**
 * The seed of what is sampled or made up. An ordinary run always has the same, a deep one another
 * each day; `SEED=<number>` repeats a run.
 */
export const seed = Number(process.env.SEED ?? (deep ? today : 20_261_001));

/** What a failure says of the run, so that it can be repeated. */
export const repeatWith = `${deep ? 'DEEP=1 ' : ''}SEED=${seed}`;

/**
 * How often a property is tried.
 *
 * @param inDeep how often in a deep run. @default - four times as often
 */
export const runs = (ordinary: number, inDeep = 4 * ordinary): number => (deep ? inDeep : ordinary);

/**
 * The items of a list whose turn it is; in a deep run all. As many tests in a row as take turns
 * have them all.
 *
 * @param nth the number of the test, from 0
 * @param turns how many tests take turns
 */
export const inTurns = <T>(list: readonly T[], nth: number, turns = 3): T[] =>
  list.filter((_, i) => deep || (i + nth) % turns === 0);

/**
 * So many of a list, in its order; all of it in a deep run. The same ones for the same seed and
 * name.
 */
export const sample = <T>(list: readonly T[], count: number, name: string): T[] => {
  if (deep || list.length <= count) return [...list];
  const numbers = random(seed + [...name].reduce((sum, letter) => sum * 31 + letter.charCodeAt(0), 7));
  const left = list.map((_, i) => i);
  const chosen = Array.from({ length: count }, () => left.splice(numbers.below(left.length), 1)[0]);
  return list.filter((_, i) => chosen.includes(i));
};
