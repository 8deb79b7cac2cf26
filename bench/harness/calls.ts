import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { UsageError } from '../../bin/common/usage-error.ts';
import { formatTime, isJsonObject, parseTime } from '../../core/foundations/wire/index.ts';
import { agentTraces } from '../../examples/agent-traces.ts';

/** A finished call as a client reports it. */
export interface Call {
  readonly start: Readonly<Record<string, unknown>>;
  readonly end: Readonly<Record<string, unknown>>;
}

const textOf = (file: string): string => {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new UsageError(
      `${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`,
      {
        cause: error,
      },
    );
  }
};

const isCall = (value: unknown): value is Call =>
  isJsonObject(value) && isJsonObject(value.start) && isJsonObject(value.end);

const callOf = (line: string, location: string): Call => {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    // The error below names the line.
  }
  if (isCall(value)) return value;
  throw new UsageError(`${location} should be a call, {"start": …, "end": …}`);
};

/**
 * Reads a file of calls: one `{"start": …, "end": …}` per line, of one project and in order of
 * their starts.
 *
 * @throws UsageError if the file is missing or has another form
 */
export const readCalls = (file: string): Call[] =>
  textOf(file)
    .trimEnd()
    .split('\n')
    .map((line, i) => callOf(line, `${file}, line ${i + 1}`));

/** The calls of the example's generator, the same every time. */
export const generatedCalls = (conversations: number): Call[] => [
  ...agentTraces({ projectId: 'acme/shop', conversations }),
];

/** The size of calls as JSON, in bytes. */
export const jsonBytes = (calls: Iterable<Call>): number => {
  let bytes = 0;
  for (const { start, end } of calls)
    bytes += Buffer.byteLength(JSON.stringify(start)) + Buffer.byteLength(JSON.stringify(end));
  return bytes;
};

/** The same calls without threads. */
export const withoutThreads = (calls: readonly Call[]): Call[] =>
  calls.map(({ start, end }) => ({ start: { ...start, thread_id: null, turn_id: null }, end }));

const dayMicros = 86_400_000_000;

/** Derives an id for a round: the same for the same round, and in the form of the original. */
const idInRound = (id: unknown, round: number): unknown => {
  if (typeof id !== 'string' || round === 0) return id;
  const hex = createHash('sha256').update(`${round} ${id}`).digest('hex');
  return /^[0-9a-f-]{36}$/.test(id) ? `${id.slice(0, 24)}${hex.slice(0, 12)}` : `${id}-${round}`;
};

const timeInRound = (time: unknown, round: number): string =>
  formatTime((parseTime(String(time)) ?? 0) + round * dayMicros);

/**
 * Yields `count` calls: the given ones, then copies of them with other ids, a day later in each
 * round.
 */
export function* repeatCalls(calls: readonly Call[], count: number): Generator<Call> {
  for (let i = 0; i < count; i++) {
    const round = Math.floor(i / calls.length);
    const call = calls[i % calls.length];
    if (!call) return;
    const id = idInRound(call.start.id, round);
    const ids = Object.fromEntries(
      ['trace_id', 'parent_id', 'thread_id', 'turn_id'].map((name) => [
        name,
        idInRound(call.start[name], round),
      ]),
    );
    yield {
      start: { ...call.start, ...ids, id, started_at: timeInRound(call.start.started_at, round) },
      end: { ...call.end, id, ended_at: timeInRound(call.end.ended_at, round) },
    };
  }
}
