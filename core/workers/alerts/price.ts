import type { Alert } from '../../../api/alerts.ts';
import { everyShard, type Store } from '../../../foundations/storage/index.ts';
import { stepMinutes } from './decide.ts';
import { comparedBefore, countsIssues } from './measure.ts';

/*
 * What alerts cost, by Amazon's list prices for us-east-1, which `npm run cost` goes by, too. A test
 * compares them.
 */

/** US dollars of a read unit, a write unit, a GB-second of a function, and one of its requests. */
export const unitPrices = {
  readUnits: 0.125e-6,
  writeUnits: 0.625e-6,
  functionTime: 0.0000133334,
  functionRequests: 0.2e-6,
} as const;

const monthMinutes = 730 * 60;

/** What a look takes, whatever it measures: its project is claimed and given back, its states are read. */
const ofLook = { readUnits: 2, writeUnits: 2 } as const;

/** Seconds of a function of half a GB that a look of one alert takes. */
const lookSeconds = 0.1;

/** Headers of calls that a read unit has: bench/figures.json. */
export const callsPerUnit = 33;

/** Hours that no rollup covers yet, on average, when a look reads rollups. */
const openHours = 1.6;

/** Read units of the rollups and marks of a day. */
const unitsOfRolledDay = 1.5;

/** What is known of a project, to estimate. */
export interface Traffic {
  readonly reads: 'rollups' | 'calls' | 'feedback';
  /** Calls a minute. Only of rollups. */
  readonly callsPerMinute: number;
  /** Read units that a minute of the span takes that is measured. Not of rollups. */
  readonly unitsPerMinute: number;
}

/**
 * About the read units of a look, beside those that any look takes.
 */
const unitsOfLook = (
  store: Pick<Store, 'shards'>,
  alert: Pick<Alert, 'windowMinutes' | 'compare'>,
  { reads, callsPerMinute, unitsPerMinute }: Traffic,
): number => {
  const spans = comparedBefore(alert) > 0 ? 2 : 1;
  // Each partition of a project takes half a unit, however little is in it.
  const least = everyShard(store).length;
  if (reads !== 'rollups') return spans * Math.max(least, unitsPerMinute * alert.windowMinutes);
  const open = Math.max(least, (callsPerMinute * 60 * openHours) / callsPerUnit);
  return spans * (open + (unitsOfRolledDay * alert.windowMinutes) / 1440);
};

/** What a look for new issues reads, however long the window is: the issues of the day and those that are known. */
const ofIssues = { windowMinutes: 1440, compare: 'absolute' } as const;

/** About what an alert costs a month by itself, in dollars, in whole cents. */
export const usdPerMonth = (
  store: Pick<Store, 'shards'>,
  alert: Pick<Alert, 'windowMinutes' | 'compare' | 'metric'>,
  traffic: Traffic,
): number => {
  const looks = monthMinutes / stepMinutes(alert);
  const units = ofLook.readUnits + unitsOfLook(store, countsIssues(alert.metric) ? ofIssues : alert, traffic);
  const usdPerLook =
    units * unitPrices.readUnits +
    ofLook.writeUnits * unitPrices.writeUnits +
    (lookSeconds / 2) * unitPrices.functionTime;
  return Math.ceil(looks * usdPerLook * 100) / 100;
};
