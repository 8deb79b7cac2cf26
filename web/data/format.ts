const integer = new Intl.NumberFormat('en-US');
const compact = new Intl.NumberFormat('en-US', { notation: 'compact', maximumFractionDigits: 1 });

/** A count: `1,234`. */
export const countText = (count: number): string => integer.format(count);

/** A count with its noun: `1 call`, `2 calls`. */
export const countedText = (count: number, noun: string): string =>
  `${countText(count)} ${noun}${count === 1 ? '' : 's'}`;

/** A count of tokens, short: `12.3K`. Columns, whose numbers are compared, have `countText`. */
export const tokensText = (count: number): string => compact.format(count);

/** Tokens, with those among them that cost otherwise or that nobody reads. */
export interface TokenCounts {
  readonly total: number;
  readonly cached: number;
  readonly reasoning: number;
}

/** Which of some tokens came from a cache, and which were reasoning: `6.1K cached, 240 reasoning`; empty for none. */
export const kindsText = ({ cached, reasoning }: Omit<TokenCounts, 'total'>): string =>
  [
    ...(cached > 0 ? [`${tokensText(cached)} cached`] : []),
    ...(reasoning > 0 ? [`${tokensText(reasoning)} reasoning`] : []),
  ].join(', ');

/** The same in full: `12,345 tokens, of which 6,100 were cached and 240 were reasoning`. */
export const allTokensText = ({ total, cached, reasoning }: TokenCounts): string => {
  const parts = [
    ...(cached > 0 ? [`${countText(cached)} were cached`] : []),
    ...(reasoning > 0 ? [`${countText(reasoning)} were reasoning`] : []),
  ];
  return `${countedText(total, 'token')}${parts.length > 0 ? `, of which ${parts.join(' and ')}` : ''}`;
};

/** A duration in milliseconds: `340 ms`, `2.41 s`, `3 m 05 s`. */
export const durationText = (ms: number): string => {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(ms < 10_000 ? 2 : 1)} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 3600) return `${Math.floor(seconds / 60)} m ${String(seconds % 60).padStart(2, '0')} s`;
  return `${Math.floor(seconds / 3600)} h ${String(Math.floor((seconds % 3600) / 60)).padStart(2, '0')} m`;
};

/** A duration of which a part was waiting for a person: `14.2 s, 12.0 s of it waiting`. */
export const tookText = (ms: number, waitedMs = 0): string =>
  waitedMs > 0
    ? `${durationText(ms)}, ${durationText(Math.min(waitedMs, ms))} of it waiting`
    : durationText(ms);

/** How a call waited for a person: `waited 12.0 s`, `waits for a person`; empty if it did not. */
export const waitText = (wait: number | true | undefined): string => {
  if (wait === undefined) return '';
  return wait === true ? 'waits for a person' : `waited ${durationText(wait)}`;
};

/** A duration that may not be known: empty for NaN. */
export const latencyText = (ms: number): string => (Number.isNaN(ms) ? '' : durationText(ms));

const signs = new Map([['USD', '$']]);

/** What stands before an amount, such as `€`; empty for a unit without a sign. */
const currencySign = (unit: string): string => {
  const known = signs.get(unit);
  if (known !== undefined) return known;
  let sign = '';
  try {
    const parts = new Intl.NumberFormat('en-US', { style: 'currency', currency: unit }).formatToParts(0);
    sign = parts.find(({ type }) => type === 'currency')?.value.replace(/^.*[a-z]$/i, '') ?? '';
  } catch {
    // It is no currency.
  }
  signs.set(unit, sign);
  return sign;
};

const amountText = (amount: number, unit: string): string => {
  const sign = currencySign(unit);
  const text = (digits: string) => (sign === '' ? `${digits} ${unit}`.trimEnd() : `${sign}${digits}`);
  if (amount === 0) return text('0');
  if (Math.abs(amount) >= 1) return text(amount.toFixed(2));
  return amount < 0.0001 ? `<${text('0.0001')}` : text(amount.toFixed(4));
};

/**
 * A cost with four digits below one, and two above: `$0.0021`, `$0.0300`, `2.00 CHF`, `$1.20 + €3.50`.
 *
 * @param cost amounts by their units, or a number of dollars
 */
export const costText = (cost: number | ReadonlyMap<string, number>): string =>
  typeof cost === 'number'
    ? amountText(cost, 'USD')
    : [...cost].map(([unit, amount]) => amountText(amount, unit)).join(' + ');

/** Bytes: `1.2 MB`. */
export const bytesText = (bytes: number): string => {
  if (bytes < 1000) return `${bytes} B`;
  return bytes < 1_000_000 ? `${(bytes / 1000).toFixed(1)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
};

const pad = (value: number): string => String(value).padStart(2, '0');

const yearText = (date: Date, now: Date): string =>
  date.getFullYear() === now.getFullYear() ? '' : ` ${date.getFullYear()}`;

const monthText = (date: Date): string => date.toLocaleString('en-US', { month: 'short' });

/** A day in the reader's own time: `22 Nov`, with the year if it is another one. */
export const dayText = (time: string | number, now = new Date()): string => {
  const date = new Date(time);
  return `${date.getDate()} ${monthText(date)}${yearText(date, now)}`;
};

/** A time of day in the reader's own time: `14:03`. */
export const clockText = (time: string | number): string => {
  const date = new Date(time);
  return `${pad(date.getHours())}:${pad(date.getMinutes())}`;
};

/** A moment in the reader's own time: `22 Nov 14:03:21`, with the year if it is another one. */
export const momentText = (time: string, now = new Date()): string => {
  const date = new Date(time);
  if (Number.isNaN(date.getTime())) return time;
  return `${dayText(time, now)} ${clockText(time)}:${pad(date.getSeconds())}`;
};
