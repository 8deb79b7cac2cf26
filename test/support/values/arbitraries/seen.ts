import fc from 'fast-check';
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parseTime,
} from '../../../../foundations/wire/index.ts';
import { scalar, timeTexts, value } from './values.ts';

/** Every path into a value, that of the value itself first, with what it leads to. */
export const pathsInto = (path: string, at: JsonValue): [path: string, at: JsonValue][] => {
  const children = Array.isArray(at) ? at.entries() : isJsonObject(at) ? Object.entries(at) : [];
  return [[path, at], ...[...children].flatMap(([key, child]) => pathsInto(`${path}.${key}`, child))];
};

/**
 * What of a call a path is about: its column, of the summary also the parts that have a meaning of
 * their own.
 */
const getTopic = (path: string): string => /^summary\.(usage|svc)(?=\.|$)|^[^.]*/.exec(path)?.[0] ?? path;

/**
 * The paths of a project's calls and what they lead to, by topic: bodies are made of these, so that
 * they match something.
 */
export type Seen = ReadonlyMap<string, ReadonlyMap<string, readonly JsonValue[]>>;

export const seenIn = (calls: readonly JsonObject[]): Seen => {
  const seen = new Map<string, Map<string, JsonValue[]>>();
  const every = calls.flatMap((call) =>
    Object.entries(call).flatMap(([column, root]) => pathsInto(column, root)),
  );
  for (const [path, at] of every) {
    const onTopic = seen.get(getTopic(path)) ?? new Map<string, JsonValue[]>();
    seen.set(getTopic(path), onTopic);
    onTopic.set(path, [...(onTopic.get(path) ?? []), at]);
  }
  return seen;
};

/**
 * Paths that lead nowhere, or would in a language where texts and lists have properties.
 */
const strangePaths =
  'inputs.nope inputs.a.nope inputs.toString inputs.constructor.name inputs.__proto__.a inputs. output.-1 output.length output.99 ' +
  'output.0.a output. summary.svc.cost summary.usage.gpt-4.1.nope summary.svc.trace_name.0 summary.svc.latency_ms.toFixed';

const payloads = ['attributes', 'inputs', 'output', 'summary'];

/**
 * A path into the calls. First comes a topic, so that many paths into a payload don't crowd out the
 * others; then more likely one that several calls have.
 */
export const pathIn = (seen: Seen): fc.Arbitrary<string> => {
  const topic = fc.oneof(fc.constantFrom(...seen.keys()), fc.constantFrom(...payloads));
  const seenPath = topic.chain((name) => {
    const paths = [...(seen.get(name) ?? [])];
    const shared = paths.filter(([, found]) => found.length > 1);
    const preferred = shared.length > 0 ? shared : paths;
    const one = (from: typeof paths) => fc.constantFrom(name, ...from.map(([path]) => path));
    return fc.oneof({ arbitrary: one(preferred), weight: 3 }, { arbitrary: one(paths), weight: 1 });
  });
  return fc.oneof(
    { arbitrary: seenPath, weight: 15 },
    { arbitrary: fc.constantFrom(...strangePaths.split(' ')), weight: 1 },
  );
};

export const isTimeColumn = (path: string): boolean => path === 'started_at' || path === 'ended_at';

/** Literals that mean a time or one beside it. */
const timeLiterals = (time: string): JsonValue[] => {
  const micros = parseTime(time) ?? 0;
  return [-1, 0, 0, 1].flatMap((beside) => [...timeTexts(micros + beside), (micros + beside) / 1e6]);
};

/** Other values that a value can be taken for, or lies close to. */
const likenesses = (at: JsonValue): JsonValue[] => {
  if (typeof at === 'string') return [at.toUpperCase(), at.slice(1), Number(at) || 0, at !== ''];
  if (typeof at === 'number') return [at + 1, at - 0.5, at !== 0, String(at)];
  return [JSON.stringify(at), null];
};

/** A literal to hold against what a path leads to: mostly what it leads to in one of the calls. */
export const literalFor = (seen: Seen, path: string): fc.Arbitrary<JsonValue> => {
  const found = seen.get(getTopic(path))?.get(path) ?? [];
  const others = fc.oneof(scalar, value);
  if (found.length === 0) return others;
  const one = fc.constantFrom(...found);
  const time = one.chain((at) => fc.constantFrom(...(typeof at === 'string' ? timeLiterals(at) : [at])));
  return fc.oneof(
    { arbitrary: isTimeColumn(path) ? time : one, weight: 8 },
    { arbitrary: one.chain((at) => fc.constantFrom(...likenesses(at))), weight: 2 },
    { arbitrary: others, weight: 1 },
  );
};
