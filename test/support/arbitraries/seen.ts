import fc from 'fast-check';
import { isJsonObject, type JsonObject, type JsonValue, parseTime } from '../../../core/wire/index.ts';
import { scalar, timeTexts, value } from './values.ts';

/** Every path into a value, that of the value itself first, with what it leads to. */
export const pathsInto = (path: string, at: JsonValue): [path: string, at: JsonValue][] => {
  const children = Array.isArray(at) ? at.entries() : isJsonObject(at) ? Object.entries(at) : [];
  return [[path, at], ...[...children].flatMap(([key, child]) => pathsInto(`${path}.${key}`, child))];
};

/** The paths of a project's calls and what they lead to, by column: bodies are made of these, so that they match something. */
export type Seen = ReadonlyMap<string, ReadonlyMap<string, readonly JsonValue[]>>;

export const seenIn = (calls: readonly JsonObject[]): Seen => {
  const seen = new Map<string, Map<string, JsonValue[]>>();
  for (const [column, root] of calls.flatMap((call) => Object.entries(call))) {
    const ofColumn = seen.get(column) ?? new Map<string, JsonValue[]>();
    seen.set(column, ofColumn);
    for (const [path, at] of pathsInto(column, root)) ofColumn.set(path, [...(ofColumn.get(path) ?? []), at]);
  }
  return seen;
};

const strangePaths = [
  ...[
    'inputs.nope',
    'inputs.a.nope',
    'inputs.toString',
    'inputs.constructor.name',
    'inputs.__proto__.a',
    'inputs.',
  ],
  ...['output.-1', 'output.length', 'output.99', 'output.0.a', 'output.', 'exception.0', 'summary.svc.costs'],
  ...[
    'display_name.0',
    'thread_id.length',
    'ended_at.0',
    'svc_run_step.toFixed',
    'summary.usage.gpt-4.1.nope',
  ],
];

const payloads = ['attributes', 'inputs', 'output', 'summary'];

/** A path into the calls: first a column, so that many paths into a payload don't crowd out the others. */
export const pathIn = (seen: Seen): fc.Arbitrary<string> => {
  const columns = [...seen.keys()];
  const column = fc.oneof(fc.constantFrom(...columns), fc.constantFrom(...payloads));
  return fc.oneof(
    { arbitrary: column.chain((name) => fc.constantFrom(...(seen.get(name)?.keys() ?? [name]))), weight: 9 },
    { arbitrary: fc.constantFrom(...strangePaths), weight: 1 },
  );
};

const isTimeColumn = (path: string): boolean => path === 'started_at' || path === 'ended_at';

/** Literals that mean a time or one beside it. */
const timeLiterals = (time: string): JsonValue[] => {
  const micros = parseTime(time) ?? 0;
  return [-1, 0, 0, 1].flatMap((beside) => [...timeTexts(micros + beside), (micros + beside) / 1e6]);
};

/** Values that a value can be taken for: itself, and as another type. */
const likenesses = (at: JsonValue): JsonValue[] => {
  const texts = typeof at === 'string' ? [at.toUpperCase(), at.slice(1), Number(at) || 0] : [];
  return [
    at,
    at,
    JSON.stringify(at),
    ...(typeof at === 'number' ? [at + 1, at - 0.5, at !== 0] : []),
    ...texts,
  ];
};

/** A literal to hold against what a path leads to: mostly what it leads to in one of the calls. */
export const literalFor = (seen: Seen, path: string): fc.Arbitrary<JsonValue> => {
  const found = seen.get(path.split('.', 1)[0] ?? '')?.get(path) ?? [];
  const candidates = isTimeColumn(path)
    ? found.flatMap((at) => (typeof at === 'string' ? timeLiterals(at) : [at]))
    : found.flatMap(likenesses);
  const others = fc.oneof(scalar, value);
  if (candidates.length === 0) return others;
  return fc.oneof({ arbitrary: fc.constantFrom(...candidates), weight: 5 }, { arbitrary: others, weight: 1 });
};
