import fc from 'fast-check';
import { type JsonValue, parseTime } from '../../../../foundations/wire/index.ts';
import type { Conversion, Operand } from '../../reference/index.ts';
import { isTimeColumn, literalFor, pathIn, type Seen } from './seen.ts';
import { scalar } from './values.ts';

const field = (path: string): Operand => ({ $getField: path });
const literal = ($literal: JsonValue): Operand => ({ $literal });

const conversion = fc.constantFrom<Conversion>('double', 'int', 'string', 'bool', 'exists');

/** What comparisons hold against a path: a literal, now and then another path or an operation. */
const otherSide = (seen: Seen, path: string, operation: fc.Arbitrary<Operand>): fc.Arbitrary<Operand> =>
  fc.oneof(
    { arbitrary: literalFor(seen, path).map(literal), weight: 10 },
    { arbitrary: pathIn(seen).map(field), weight: 1 },
    { arbitrary: operation, weight: 1 },
  );

/** A path, mostly as it is. */
const readAs = (path: string): fc.Arbitrary<Operand> =>
  fc.oneof(
    { arbitrary: fc.constant(field(path)), weight: 4 },
    { arbitrary: conversion.map((to): Operand => ({ $convert: { input: field(path), to } })), weight: 1 },
  );

const isTime = (value: JsonValue): boolean =>
  value === null ||
  typeof value === 'number' ||
  (typeof value === 'string' && parseTime(value) !== undefined);

/** An operand as it may stand beside another: null for a literal beside a time that is none. */
const beside = (other: Operand, operand: Operand): Operand => {
  const strange = '$getField' in other && isTimeColumn(other.$getField) && '$literal' in operand;
  return strange && !isTime(operand.$literal) ? literal(null) : operand;
};

type Pair = readonly [Operand, Operand];
type MakeComparison = (pair: Pair) => Operand;

const bounds: MakeComparison[] = [
  ($eq) => ({ $eq }),
  ($gt) => ({ $gt }),
  ($gte) => ({ $gte }),
  ($lt) => ({ $lt }),
  ($lte) => ({ $lte }),
];
const comparisons: MakeComparison[] = [($eq) => ({ $eq }), ($ne) => ({ $ne }), ...bounds];

/** A comparison of two operands, in either order. */
const compare = (
  makes: readonly MakeComparison[],
  one: fc.Arbitrary<Operand>,
  other: fc.Arbitrary<Operand>,
): fc.Arbitrary<Operand> =>
  fc.tuple(fc.constantFrom(...makes), one, other, fc.boolean()).map(([make, one, other, turned]) => {
    const left = beside(other, one);
    const right = beside(one, other);
    return make(turned ? [right, left] : [left, right]);
  });

const comparison = (seen: Seen, operation: fc.Arbitrary<Operand>): fc.Arbitrary<Operand> =>
  pathIn(seen).chain((path) => compare(comparisons, readAs(path), otherSide(seen, path, operation)));

const membership = (seen: Seen, operation: fc.Arbitrary<Operand>): fc.Arbitrary<Operand> =>
  pathIn(seen).chain((path) =>
    fc
      .tuple(readAs(path), fc.array(otherSide(seen, path, operation), { maxLength: 3, size: 'max' }))
      .map(([one, others]): Operand => ({ $in: [one, others.map((other) => beside(one, other))] })),
  );

/** What a value can be asked to contain: itself, parts of a text, items of a list. */
const listParts = (whole: JsonValue): JsonValue[] => {
  if (typeof whole === 'string') return [whole, whole.slice(1), whole.slice(0, 1), whole.toUpperCase()];
  return Array.isArray(whole) ? [...whole, whole] : [whole];
};

const containment = (seen: Seen): fc.Arbitrary<Operand> =>
  pathIn(seen).chain((path) => {
    const part = (whole: JsonValue) => fc.constantFrom(...listParts(whole)).map(literal);
    const asText = (whole: JsonValue) => (typeof whole === 'string' ? whole : JSON.stringify(whole));
    const contains = (input: fc.Arbitrary<Operand>, substr: fc.Arbitrary<Operand>) =>
      fc.record(
        { input, substr, case_insensitive: fc.option(fc.boolean(), { nil: null }) },
        { requiredKeys: ['input', 'substr'] },
      );
    const text: Operand = { $convert: { input: field(path), to: 'string' } };
    return fc
      .oneof(
        contains(readAs(path), literalFor(seen, path).chain(part)),
        contains(fc.constant(text), literalFor(seen, path).map(asText).chain(part)),
      )
      .map(($contains) => ({ $contains }));
  });

/** Any operation or operand, a few levels deep. */
const expression = (seen: Seen): fc.Arbitrary<Operand> =>
  fc.letrec<{ operation: Operand; operand: Operand }>((tie) => {
    const depth = { maxDepth: 4, depthIdentifier: fc.createDepthIdentifier() };
    const operands = fc.oneof(
      { arbitrary: fc.array(tie('operand'), { minLength: 1, maxLength: 3, size: 'max' }), weight: 9 },
      { arbitrary: fc.constant([]), weight: 1 },
    );
    return {
      operation: fc.oneof(
        depth,
        { arbitrary: comparison(seen, fc.constant(literal(true))), weight: 4 },
        { arbitrary: comparison(seen, tie('operation')), weight: 2 },
        { arbitrary: membership(seen, tie('operation')), weight: 2 },
        { arbitrary: containment(seen), weight: 2 },
        { arbitrary: operands.map(($and) => ({ $and })), weight: 2 },
        { arbitrary: operands.map(($or) => ({ $or })), weight: 2 },
        { arbitrary: tie('operand').map((operand): Operand => ({ $not: [operand] })), weight: 2 },
      ),
      operand: fc.oneof(
        depth,
        { arbitrary: tie('operation'), weight: 8 },
        { arbitrary: pathIn(seen).chain(readAs), weight: 1 },
        { arbitrary: scalar.map(literal), weight: 1 },
      ),
    };
  }).operand;

/** A bound on when calls start. */
const timeBound = (seen: Seen): fc.Arbitrary<Operand> =>
  compare(bounds, fc.constant(field('started_at')), literalFor(seen, 'started_at').map(literal));

/**
 * The columns that a planner may look calls up by, those that are null in some calls twice as
 * often.
 */
const lookupColumns = [
  'id',
  'project_id',
  'trace_id',
  'op_name',
  'svc_run_id',
  'svc_user_id',
  'parent_id',
  'thread_id',
  'turn_id',
  'parent_id',
  'thread_id',
  'turn_id',
];

/** What asks for the calls of a list: roots or others, failed ones or others, in any words. */
const listed: fc.Arbitrary<Operand> = fc
  .constantFrom('parent_id', 'exception')
  .chain((column) => {
    const there = { $convert: { input: field(column), to: 'exists' as const } };
    return fc.constantFrom<Operand>(
      { $eq: [field(column), literal(null)] },
      { $ne: [literal(null), field(column)] },
      { $in: [field(column), [literal(null)]] },
      there,
      { $eq: [field('summary.svc.status'), literal('error')] },
      { $in: [field('summary.svc.status'), [literal('error'), literal('error')]] },
    );
  })
  .chain((asked) => fc.constantFrom<Operand>(asked, { $not: [asked] }));

/** A condition that pins such a column to a few values. */
const lookup = (seen: Seen): fc.Arbitrary<Operand> =>
  fc.constantFrom(...lookupColumns).chain((column) => {
    const one = fc.oneof(
      { arbitrary: literalFor(seen, column), weight: 3 },
      { arbitrary: fc.constant(null), weight: 1 },
    );
    const equal = compare(bounds.slice(0, 1), fc.constant(field(column)), one.map(literal));
    const some = fc.array(one.map(literal), { maxLength: 3, size: 'max' });
    return fc.oneof(
      equal,
      some.map((options): Operand => ({ $in: [field(column), options] })),
      fc.tuple(equal, equal).map(($or): Operand => ({ $or })),
    );
  });

/**
 * The `query` of a body: any expression, or conditions that narrow down what must be read, in the
 * top-level `$and` and in one within it.
 */
export const query = (seen: Seen): fc.Arbitrary<{ $expr: Operand }> => {
  const narrow = fc.oneof(timeBound(seen), lookup(seen), listed, expression(seen));
  const conditions = fc.array(narrow, { minLength: 1, maxLength: 2 });
  return fc
    .oneof(
      expression(seen),
      narrow,
      conditions.map(($and): Operand => ({ $and })),
      fc.tuple(conditions, conditions).map(([outer, $and]): Operand => ({ $and: [...outer, { $and }] })),
    )
    .map(($expr) => ({ $expr }));
};
