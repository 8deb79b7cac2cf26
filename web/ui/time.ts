const pad = (value: number): string => String(value).padStart(2, '0');

/** A day of the reader: `2026-10-01`. */
export const toDay = (date: Date): string =>
  `${date.getFullYear()}-${pad(date.getMonth() + 1)}-${pad(date.getDate())}`;

/** A day, with a time or without. */
const typedTime = /^(\d{4}-\d{2}-\d{2})(?:T\d{2}:\d{2}(?::\d{2})?)?$/;

/** What was typed, as `2026-10-01T12:30`. A day without a time begins. Undefined if it is no time. */
export const toLocalTime = (text: string): string | undefined => {
  const typed = text.trim().replace(' ', 'T');
  if (typed === '') return '';
  const day = typedTime.exec(typed)?.[1];
  // A browser reads the 30th of February as a day in March.
  if (day === undefined || toDay(new Date(`${day}T00:00`)) !== day) return undefined;
  const whole = typed === day ? `${day}T00:00` : typed;
  return Number.isNaN(Date.parse(whole)) ? undefined : whole;
};

/** The day that follows one of the reader. */
export const nextDay = (day: string): string => {
  const date = new Date(`${day}T00:00`);
  date.setDate(date.getDate() + 1);
  return toDay(date);
};

/** The last day before a time of the reader, which is not part of it: that of `2026-10-02T00:00` is `2026-10-01`. */
export const lastDayBefore = (time: string): string => toDay(new Date(Date.parse(time) - 1));

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
