import { countText, durationText } from '../../data/format.ts';
import { type Chance, chanceShare } from './bootstrap.ts';
import type { Measure } from './join.ts';

/** What is nearer to 0 is the rounding of sums. */
const rounding = 1e-12;

/** A score: `0.667`, `12`, `0.0004`. */
export const scoreText = (score: number): string =>
  Math.abs(score) < rounding
    ? '0'
    : String(Math.abs(score) < 0.01 ? Number(score.toPrecision(1)) : Math.round(score * 1000) / 1000);

type Texts = (value: number) => string;

/** How values of a measure are written for a row. */
export const getText = ({ kind }: Pick<Measure, 'kind'>, costText: Texts): Texts =>
  kind === 'score' ? scoreText : kind === 'latency' ? durationText : costText;

/** How many rows the costs of evaluations are written for: a single one may cost too little. */
const costedRows = 1000;

/** How the mean of a measure is named. */
export const meanTitle = ({ kind, title }: Pick<Measure, 'kind' | 'title'>): string =>
  kind === 'cost' ? `Cost of ${countText(costedRows)} rows` : title;

/** How the mean of a measure is written. */
export const meanText = (measure: Pick<Measure, 'kind'>, costText: Texts): Texts => {
  const text = getText(measure, costText);
  return measure.kind === 'cost' ? (cost) => text(cost * costedRows) : text;
};

/** A difference with its sign: `+0.1`, `−$0.0021`, `±0`. */
export const signedText = (difference: number, text: (value: number) => string): string =>
  Math.abs(difference) < rounding
    ? `±${text(0)}`
    : `${difference < 0 ? '−' : '+'}${text(Math.abs(difference))}`;

/** A share of 1 in percent: `12 %`, `0.4 %`. */
const shareText = (share: number): string =>
  `${share < 0.1 ? Math.round(share * 1000) / 10 : Math.round(share * 100)}\u00a0%`;

/** Whether a difference could be chance, in words. */
export const toVerdict = (chance: Chance): { readonly isChance: boolean; readonly words: string } => {
  if (chance.difference === 0) return { isChance: true, words: 'no difference' };
  const isChance = chance.share > chanceShare;
  return { isChance, words: isChance ? 'could be chance' : 'hardly chance' };
};

/** What the draws say: `between −0.2 and −0.03 in 95 % of the draws; 0.4 % show no fall`. */
export const drawsText = (
  { difference, low, high, share }: Chance,
  text: (value: number) => string,
): string => {
  if (low === 0 && high === 0) return 'no row differs';
  const bounds = `between ${signedText(low, text)} and ${signedText(high, text)} in 95\u00a0% of the draws`;
  const change = difference < 0 ? 'fall' : 'rise';
  if (difference === 0) return bounds;
  return share === 0
    ? `${bounds}; every draw shows a ${change}`
    : `${bounds}; ${shareText(share)} show no ${change}`;
};
