import fc from 'fast-check';
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { callBatch } from '../../../../../api/calls.ts';
import { deleteCalls, writeCalls } from '../../../../../core/records/calls/index.ts';
import { requestBudget, type Store } from '../../../../../foundations/storage/index.ts';
import type { ProjectId } from '../../../../../foundations/wire/index.ts';
import { parseBody } from '../../../../../foundations/wire/schema.ts';
import { runs, seed } from '../../../../support/run/sampling.ts';
import { ask } from '../../../../support/values/calls.ts';
import { hostileText } from '../../../../support/values/hostile-texts.ts';
import { createStatsStore } from '../../../../support/values/stats.ts';

/*
 * Searches of calls that come in any order, change and go, in hours of many calls: each answers as if nothing
 * were known of texts, before and after they are noted.
 */

let store: Store;
let plain: Store;
beforeAll(async () => {
  store = await createStatsStore({ shards: [2] });
  plain = { ...store, bookkeeping: undefined };
});
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'] });
});
afterEach(() => {
  vi.useRealTimers();
});

let projects = 0;
const begin = Date.UTC(2026, 9, 24, 22);
const at = (minutes: number): string => new Date(begin + minutes * 60_000).toISOString();
const waitForMarks = () => vi.setSystemTime(Date.now() + 600_000);

/** Numbers as clients write them, which JSON may write otherwise. */
const numbers = ['1e5', '1E5', '100000', '1.50', '-0', '12345678901234567890', '0.1e-7', '2.5E+30', '1e21'];
/** A number within a text that {@link toBody} writes as it is. */
const numberMark = /"#(?<number>[-+.\deE]+)#"/g;
const toBody = (batch: readonly object[]): string => JSON.stringify({ batch }).replaceAll(numberMark, '$1');

const report = async (batch: readonly object[]): Promise<void> => {
  const reports = parseBody(callBatch(), toBody(batch)).batch;
  await writeCalls(store, reports, 'ada', requestBudget(30_000));
};

const leaf: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 6, arbitrary: hostileText },
  { weight: 2, arbitrary: fc.constantFrom(...numbers).map((number) => `#${number}#`) },
  { weight: 1, arbitrary: fc.constantFrom(true, false, null, '', [], {}) },
);
/** What is reported: texts, numbers and keys of all kinds, deep in lists and objects. */
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    leaf,
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.oneof(hostileText, fc.constantFrom('content', 'text', '0', 'a.b')), tie('value'), {
      maxKeys: 3,
      noNullPrototype: true,
    }),
  ),
}));
/** Attributes that headers hold, with others beside them. */
const attributes = fc.record(
  {
    source: fc.oneof(fc.constantFrom('evaluation', 'test'), hostileText),
    kind: fc.constantFrom('tool', 'model', 'another kind'),
    user: fc.oneof(
      fc.record({ id: hostileText, name: hostileText }, { requiredKeys: [] }),
      hostileText as fc.Arbitrary<unknown>,
    ),
    'user.id': hostileText,
    tool: fc.record({ name: hostileText, call: value }, { requiredKeys: [] }),
    environment: hostileText,
    other: value,
  },
  { requiredKeys: [], noNullPrototype: true },
);

const start = fc.record({
  minutes: fc.oneof(fc.constantFrom(0, 59, 60), fc.nat({ max: 300 })),
  inputs: fc.oneof(
    value,
    fc.array(fc.record({ role: fc.constant('user'), content: value }), { maxLength: 3 }).map((messages) => ({
      messages,
    })),
  ),
  attributes,
  nested: fc.boolean(),
});
const end = fc.record({ output: value, exception: fc.option(hostileText) });
type Start = typeof start extends fc.Arbitrary<infer T> ? T : never;
type End = typeof end extends fc.Arbitrary<infer T> ? T : never;

const toStart = (project_id: string, id: string, { minutes, inputs, nested, ...rest }: Start) => ({
  mode: 'start',
  req: {
    start: {
      project_id,
      id,
      trace_id: id,
      op_name: 'op',
      started_at: at(minutes),
      inputs:
        typeof inputs === 'object' && inputs !== null && !Array.isArray(inputs) ? inputs : { some: inputs },
      ...(nested && { parent_id: 'a' }),
      ...rest,
    },
  },
});
const toEnd = (project_id: string, id: string, fields: End) => ({
  mode: 'end',
  req: { end: { project_id, id, ended_at: at(500), ...fields } },
});

/** What happens to a call after all were noted. */
const change = fc.record({
  of: fc.nat(),
  what: fc.constantFrom('start', 'end', 'both', 'deletion', 'another call'),
  start,
  end,
});

/** The paths that texts are looked for at. */
const paths = [
  'inputs',
  'inputs.some',
  'inputs.messages',
  'inputs.messages.0.content',
  'inputs.content',
  'inputs.a.b',
  'output',
  'output.0',
  'output.content',
  'exception',
  'attributes',
  'attributes.other',
  'attributes.tool',
  'attributes.tool.name',
  'attributes.user',
  'attributes.user.id',
  'attributes.source',
  'summary',
  'op_name',
];

const sought = fc.record({
  /** Which call it is a part of, what of it, and which part. */
  of: fc.nat(),
  piece: fc.nat(),
  start: fc.nat(),
  length: fc.integer({ min: 1, max: 16 }),
  form: fc.constantFrom<(text: string) => string>(
    (text) => text,
    (text) => text.toUpperCase(),
    (text) => text.toLowerCase(),
    (text) => text.normalize('NFC'),
    (text) => text.normalize('NFD'),
    (text) => JSON.stringify(text).slice(1, -1),
  ),
  paths: fc.uniqueArray(fc.constantFrom(...paths), { minLength: 1, maxLength: 5 }),
  asText: fc.boolean(),
  case_insensitive: fc.boolean(),
  not: fc.boolean(),
  failed: fc.boolean(),
  from: fc.option(fc.nat({ max: 300 })),
  to: fc.option(fc.nat({ max: 300 })),
  sort_by: fc.constantFrom(
    [],
    [{ field: 'started_at', direction: 'desc' }],
    [{ field: 'summary.svc.latency_ms', direction: 'asc' }],
    [{ field: 'output', direction: 'desc' }],
  ),
  limit: fc.option(fc.integer({ min: 1, max: 5 })),
  offset: fc.constantFrom(0, 0, 2),
  rootsOnly: fc.boolean(),
});
type Sought = typeof sought extends fc.Arbitrary<infer T> ? T : never;

/** All texts that a value has, as they are and as JSON. */
const textsIn = (of: unknown): string[] => {
  const json = JSON.stringify(of).replaceAll(numberMark, '$1');
  if (typeof of === 'string') return [of, json];
  return typeof of === 'object' && of !== null ? [json, ...Object.values(of).flatMap(textsIn)] : [json];
};

const toRequest = (project_id: string, each: Sought, pieces: readonly string[]): object => {
  const piece = pieces[each.piece % pieces.length] ?? '';
  const from = each.start % Math.max(1, piece.length);
  const text = each.form(piece.slice(from, from + each.length));
  const $or = each.paths.map((path) => {
    const field = { $getField: path };
    const input = each.asText ? { $convert: { input: field, to: 'string' } } : field;
    return {
      $contains: { input, substr: { $literal: text }, case_insensitive: each.case_insensitive },
    };
  });
  const bound = (operator: string, minutes: number | null) =>
    minutes === null ? [] : [{ [operator]: [{ $getField: 'started_at' }, { $literal: at(minutes) }] }];
  const all = [
    ...bound('$gte', each.from),
    ...bound('$lte', each.to),
    ...(each.failed ? [{ $ne: [{ $getField: 'exception' }, { $literal: null }] }] : []),
    each.not ? { $not: [{ $or }] } : { $or },
  ];
  return {
    project_id,
    query: { $expr: { $and: all } },
    sort_by: each.sort_by,
    offset: each.offset,
    columns: ['id'],
    ...(each.limit !== null && { limit: each.limit }),
    ...(each.rootsOnly && { filter: { trace_roots_only: true } }),
  };
};

describe('what is known of texts', () => {
  it('leaves out no call that has one, whatever calls hold, and whatever happens to them', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ start, end: fc.option(end), copies: fc.constantFrom(1, 1, 1, 40) }), {
          minLength: 1,
          maxLength: 8,
        }),
        fc.array(change, { maxLength: 3 }),
        fc.array(sought, { minLength: 6, maxLength: 20 }),
        async (some, changes, all) => {
          const project = `acme/any-texts-${projects++}` as ProjectId;
          const calls = some.flatMap(({ copies, ...each }) => Array.from({ length: copies }, () => each));
          const ids = calls.map((_, i) => `call-${i}`);
          const pieces = some.map((each) => textsIn([each.start.inputs, each.start.attributes, each.end]));
          await report(
            calls.flatMap(({ start: first, end: last }, i) => [
              toStart(project, `call-${i}`, first),
              ...(last ? [toEnd(project, `call-${i}`, last)] : []),
            ]),
          );
          const compare = async (when: string): Promise<void> => {
            for (const each of all) {
              const request = toRequest(project, each, pieces[each.of % pieces.length] ?? []);
              const expected = await ask(plain, request);
              expect(await ask(store, request), `${when}: ${JSON.stringify(request)}`).toEqual(expected);
            }
          };
          const noteAll = async (): Promise<void> => {
            waitForMarks();
            const $contains = { input: { $getField: 'output' }, substr: { $literal: 'xylophones' } };
            await ask(store, { project_id: project, query: { $expr: { $contains } } });
          };
          await noteAll();
          await compare('noted');
          for (const [i, { of, what, start: first, end: last }] of changes.entries()) {
            const id = ids[of % ids.length] ?? '';
            pieces.push(textsIn([first.inputs, first.attributes, last]));
            if (what === 'deletion') await deleteCalls(store, project, [id], requestBudget(30_000));
            else if (what === 'start') await report([toStart(project, id, first)]);
            else if (what === 'end') await report([toEnd(project, id, last)]);
            else {
              const name = what === 'both' ? id : `other-${i}`;
              await report([toStart(project, name, first), toEnd(project, name, last)]);
            }
          }
          await compare('changed');
          await noteAll();
          await compare('noted again');
        },
      ),
      { numRuns: runs(8), seed },
    );
  });
});
