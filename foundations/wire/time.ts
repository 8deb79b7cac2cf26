/**
 * A point in time as whole microseconds since 1970-01-01T00:00:00Z, negative before it. It is a
 * safe integer, so it lies between 1684-07-28 and 2255-06-05.
 */
export type Micros = number;

const shape =
  /^(\d{4})-(\d{2})-(\d{2})(?:[Tt ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,30}))?)?(?:([Zz])|([+-])(\d{2}):?(\d{2})?)?)?$/;

/** The rule for times, for error messages. */
export const timeRule =
  'should be an ISO 8601 time such as 2026-10-01T09:30:00.123456Z, between the years 1685 and 2254';

/**
 * Parses an ISO 8601 time with any offset. Without an offset it is UTC; a date alone is its
 * midnight. Digits of the fraction beyond the sixth are cut off.
 *
 * @returns microseconds; undefined if the text is not a time or is out of range
 */
export const parseTime = (text: string): Micros | undefined => {
  const match = shape.exec(text);
  if (!match) return undefined;
  const [
    ,
    year,
    month,
    day,
    hour = '0',
    minute = '0',
    second = '0',
    fraction = '',
    ,
    sign,
    offHour,
    offMinute,
  ] = match;
  const fields = [year, month, day, hour, minute, second].map(Number);
  const [y = 0, mo = 0, d = 0, h = 0, mi = 0, s = 0] = fields;
  if (h > 23 || mi > 59 || s > 59 || Number(offHour ?? 0) > 23 || Number(offMinute ?? 0) > 59)
    return undefined;
  const millis = Date.UTC(y, mo - 1, d, h, mi, s);
  // Date.UTC makes the 31st of February a day in March, and takes years below 100 for the 1900s.
  const date = new Date(millis);
  if (date.getUTCDate() !== d || date.getUTCMonth() !== mo - 1 || date.getUTCFullYear() !== y)
    return undefined;
  const offsetMinutes = (sign === '-' ? -1 : 1) * (Number(offHour ?? 0) * 60 + Number(offMinute ?? 0));
  const micros = (millis - offsetMinutes * 60_000) * 1000 + Number(fraction.slice(0, 6).padEnd(6, '0'));
  return Number.isSafeInteger(micros) ? micros : undefined;
};

/** Formats microseconds as UTC with six fraction digits and `Z`: `2026-10-01T00:00:17.524762Z`. */
export const formatTime = (micros: Micros): string => {
  const millis = Math.floor(micros / 1000);
  const rest = micros - millis * 1000;
  return `${new Date(millis).toISOString().slice(0, -1)}${String(rest).padStart(3, '0')}Z`;
};
