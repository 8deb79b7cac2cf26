const integer = new Intl.NumberFormat('en-US');
const compact = new Intl.NumberFormat('en-US', { notation: 'compact', maximumFractionDigits: 1 });

/** A count: `1,234`. */
export const countText = (count: number): string => integer.format(count);

/** A count of tokens, short: `12.3K`. */
export const tokensText = (count: number): string =>
  count < 10_000 ? countText(count) : compact.format(count);

/** A duration in milliseconds: `340 ms`, `2.41 s`, `3 m 05 s`. */
export const durationText = (ms: number): string => {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(ms < 10_000 ? 2 : 1)} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 3600) return `${Math.floor(seconds / 60)} m ${String(seconds % 60).padStart(2, '0')} s`;
  return `${Math.floor(seconds / 3600)} h ${String(Math.floor((seconds % 3600) / 60)).padStart(2, '0')} m`;
};

/** A cost in dollars, with the digits that small amounts need: `$0.0021`. */
export const costText = (cost: number): string => {
  if (cost === 0) return '$0';
  if (Math.abs(cost) >= 1) return `$${cost.toFixed(2)}`;
  return cost < 0.0001 ? '<$0.0001' : `$${cost.toFixed(4).replace(/0{1,2}$/, '')}`;
};

/** Bytes: `1.2 MB`. */
export const bytesText = (bytes: number): string => {
  if (bytes < 1000) return `${bytes} B`;
  return bytes < 1_000_000 ? `${(bytes / 1000).toFixed(1)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
};

const pad = (value: number, length = 2): string => String(value).padStart(length, '0');

/** A moment in the reader's own time: `22 Nov 14:03:21`, with the year if it is another one. */
export const momentText = (time: string, now = new Date()): string => {
  const date = new Date(time);
  if (Number.isNaN(date.getTime())) return time;
  const month = date.toLocaleString('en-US', { month: 'short' });
  const year = date.getFullYear() === now.getFullYear() ? '' : ` ${date.getFullYear()}`;
  const clock = `${pad(date.getHours())}:${pad(date.getMinutes())}:${pad(date.getSeconds())}`;
  return `${date.getDate()} ${month}${year} ${clock}`;
};
