import { csvLine, formatTime, type Micros } from '../../foundations/wire/index.ts';
import type { ThreadStatistics } from './statistics.ts';

/** The fields of a thread as it is answered, in their order; times are microseconds here. */
const values = {
  thread_id: ({ threadId }: ThreadStatistics): string => threadId,
  turn_count: ({ turnCount }: ThreadStatistics): number => turnCount,
  start_time: ({ startTime }: ThreadStatistics): Micros => startTime,
  last_updated: ({ lastUpdated }: ThreadStatistics): Micros => lastUpdated,
  first_turn_id: ({ firstTurnId }: ThreadStatistics): string => firstTurnId,
  last_turn_id: ({ lastTurnId }: ThreadStatistics): string => lastTurnId,
  p50_turn_duration_ms: ({ p50TurnDurationMs }: ThreadStatistics): number | null => p50TurnDurationMs,
  p99_turn_duration_ms: ({ p99TurnDurationMs }: ThreadStatistics): number | null => p99TurnDurationMs,
} as const;

/** A field of a thread as it is answered. */
export type ThreadField = keyof typeof values;

/** What a field of a thread is compared by: times are microseconds. */
export const fieldValue = (field: ThreadField, thread: ThreadStatistics): string | number | null =>
  values[field](thread);

const times: readonly string[] = ['start_time', 'last_updated'] satisfies ThreadField[];

const answeredFields = (thread: ThreadStatistics): [field: string, value: string | number | null][] =>
  Object.entries(values).map(([field, read]) => {
    const value = read(thread);
    return [field, times.includes(field) ? formatTime(Number(value)) : value];
  });

/** A thread as JSON text, as it is answered. */
export const threadJson = (thread: ThreadStatistics): string =>
  JSON.stringify(Object.fromEntries(answeredFields(thread)));

/** The line of CSV that names the fields. */
export const threadCsvHeader: string = csvLine(Object.keys(values));

/** A thread as a line of CSV. */
export const threadCsv = (thread: ThreadStatistics): string =>
  csvLine(answeredFields(thread).map(([, value]) => value));
