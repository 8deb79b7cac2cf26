import fc from 'fast-check';

/** What fits nowhere, or only just. */
export const odd: readonly unknown[] = [
  null,
  true,
  0,
  -0,
  -1,
  1.5,
  2 ** 53 + 2,
  1e308,
  '',
  ' ',
  '\u0000',
  '\ud800',
  'a\u2028b',
  '👩‍👩‍👧',
  '__proto__',
  '../../etc/passwd',
  'acme/shop/more',
  '*',
  'x'.repeat(3000),
  '2026-13-01T00:00:00Z',
  '2026-10-01',
  [],
  [[]],
  {},
  { $expr: {} },
  { $expr: { $getField: 'id' } },
  JSON.parse('{"__proto__": {"polluted": true}}'),
  { constructor: { prototype: { polluted: true } } },
];

type Steps = readonly (string | number)[];

/** The places in a value: of itself and of everything in it. */
const placesIn = (value: unknown, at: Steps = []): Steps[] => {
  if (typeof value !== 'object' || value === null) return [at];
  const entries: [string | number, unknown][] = Array.isArray(value)
    ? [...value.entries()]
    : Object.entries(value);
  return [at, ...entries.flatMap(([key, part]) => placesIn(part, [...at, key]))];
};

type Change = (value: unknown) => unknown;
const drop = Symbol('drop');

/** A copy in which something else stands at a place, or nothing. */
const changedAt = (value: unknown, [step, ...rest]: Steps, change: Change): unknown => {
  if (step === undefined) return change(value);
  if (Array.isArray(value)) {
    return value
      .map((item, i) => (i === step ? changedAt(item, rest, change) : item))
      .filter((item) => item !== drop);
  }
  const fields = Object.entries(value as object).map(([key, part]): [string, unknown] => [
    key,
    key === step ? changedAt(part, rest, change) : part,
  ]);
  return Object.fromEntries(fields.filter(([, part]) => part !== drop));
};

const withField = (value: unknown): unknown => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [value];
  const copy: object = { ...value };
  return Object.defineProperty(copy, '__proto__', { value: { polluted: true }, enumerable: true });
};

const changes: fc.Arbitrary<Change> = fc.oneof(
  fc.constant<Change>(() => drop),
  fc.constant<Change>((value) => [value, value]),
  fc.constant<Change>(withField),
  // As text; String() asks an object for its own toString, which may be anything here.
  fc.constant<Change>((value) =>
    typeof value === 'string' ? value : (JSON.stringify(value) ?? 'undefined'),
  ),
  fc.constantFrom(...odd).map(
    (other): Change =>
      () =>
        other,
  ),
  fc.jsonValue({ maxDepth: 2 }).map(
    (other): Change =>
      () =>
        other,
  ),
);

/** Values that nearly are what they should: in one place something else stands, or nothing. */
export const mutated = (values: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc.tuple(values, fc.nat(), changes).map(([value, pick, change]) => {
    const places = placesIn(value);
    const changed = changedAt(value, places[pick % places.length] ?? [], change);
    return changed === drop ? null : changed;
  });
