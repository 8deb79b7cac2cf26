/** How a day is typed, with a time or without. */
export const timePattern = String.raw`\s*\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2})?)?\s*`;

const typedTime = new RegExp(`^${timePattern}$`);

/** What was typed, as `2026-10-01T12:30`. A day without a time begins. Undefined if it is no time. */
export const toLocalTime = (text: string): string | undefined => {
  const typed = text.trim().replace(' ', 'T');
  if (typed === '') return '';
  const whole = typed.includes('T') ? typed : `${typed}T00:00`;
  return typedTime.test(typed) && !Number.isNaN(Date.parse(whole)) ? whole : undefined;
};

const pad = (value: number): string => String(value).padStart(2, '0');

/** A day of the reader: `2026-10-01`. */
export const toDay = (date: Date): string =>
  `${date.getFullYear()}-${pad(date.getMonth() + 1)}-${pad(date.getDate())}`;

/** The days of the weeks that a month is in, from Monday on. */
export const daysOfMonth = (month: Date): Date[] => {
  const first = new Date(month.getFullYear(), month.getMonth(), 1);
  const before = (first.getDay() + 6) % 7;
  const last = new Date(month.getFullYear(), month.getMonth() + 1, 0);
  const weeks = Math.ceil((before + last.getDate()) / 7);
  return Array.from(
    { length: weeks * 7 },
    (_, at) => new Date(month.getFullYear(), month.getMonth(), 1 - before + at),
  );
};
