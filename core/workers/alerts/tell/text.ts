import type { Contributor, Message } from '../message.ts';

/** A number as people read it: at most four digits that count, `1,234`, `0.0512`. */
const numberText = (value: number): string =>
  value.toLocaleString('en-US', { maximumSignificantDigits: 4, useGrouping: true });

const percent = (value: number): string => `${value > 0 ? '+' : ''}${numberText(value)} %`;

const before: Readonly<Record<string, string>> = { day_before: 'a day before', week_before: 'a week before' };

/** What was measured: `0.12`, or `+35 % (12, a day before 8.9)`; `no data` for none. */
export const valueText = ({ value, compare, compared }: Message): string => {
  if (compare === 'absolute') return value === null ? 'no data' : numberText(value);
  const [now, then] = [compared?.current ?? null, compared?.before ?? null].map((figure) =>
    figure === null ? 'no data' : numberText(figure),
  );
  const change = value === null ? 'no change that a percentage tells' : percent(value);
  return `${change} (${now}, ${before[compare]} ${then})`;
};

/** The threshold: `above 0.1`, or `above +20 %` of a comparison. */
export const thresholdText = ({ threshold, direction, compare }: Message): string =>
  `${direction} ${compare === 'absolute' ? numberText(threshold) : percent(threshold)}`;

const shortTime = (time: string): string => `${time.slice(0, 16).replace('T', ' ')}`;

/** The window: `2026-11-22 09:25 to 2026-11-22 09:30 UTC`. */
export const windowText = ({ window: { start, end } }: Message): string =>
  `${shortTime(start)} to ${shortTime(end)} UTC`;

const states = { ok: 'OK', warn: 'Warning', alert: 'Alert', no_data: 'No data' } as const;

/** The first line: `Alert: Too many errors`, with what kind of message it is if nothing has changed. */
export const titleText = ({ kind, state, alert }: Message): string => {
  const title = `${states[state]}: ${alert.name}`;
  if (kind === 'test') return `Test: ${alert.name}`;
  return kind === 'reminder' ? `${title} (still)` : title;
};

/** What else there is to say of the change: `was ok`; empty for a first state. */
export const previousText = ({ kind, previous }: Message): string => {
  if (kind === 'test') return 'Nothing has happened: somebody tries whether messages arrive.';
  return previous === null ? '' : `It was ${states[previous]} before.`;
};

export const contributorText = ({ label, value }: Contributor): string => `${label}: ${numberText(value)}`;

/** A message in plain text, as a mail has it. */
export const plainText = (message: Message): string =>
  [
    `${titleText(message)} in ${message.project_id}`,
    '',
    `${message.metric} is ${valueText(message)}; the threshold is ${thresholdText(message)}.`,
    `From ${windowText(message)}. ${previousText(message)}`.trim(),
    '',
    ...(message.contributors.length > 0 ? ['What contributes most:'] : []),
    ...message.contributors.map((contributor) => `- ${contributorText(contributor)}\n  ${contributor.link}`),
    '',
    message.link,
  ]
    .join('\n')
    .replaceAll(/\n{3,}/g, '\n\n');
