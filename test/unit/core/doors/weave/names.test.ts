import { describe, expect, it } from 'vitest';
import type * as z from 'zod/mini';
import { isPage } from '../../../../../api/endpoint.ts';
import { routes } from '../../../../../api/routes.ts';
import {
  answerToWeave,
  errorToWeave,
  pathFromWeave,
  refsToWeave,
  requestFromWeave,
} from '../../../../../core/doors/weave/names.ts';
import { invalidAt, storedRefs } from '../../../../../foundations/wire/index.ts';

type Schema = z.core.$ZodType;

/** Values of a schema that have every field, of each of its options. */
const makeSamples = (schema: Schema): unknown[] => {
  const { def } = schema._zod;
  switch (def.type) {
    case 'object': {
      const fields = Object.entries((def as z.core.$ZodObjectDef).shape).map(
        ([name, field]) => [name, makeSamples(field)] as const,
      );
      const count = Math.max(1, ...fields.map(([, samples]) => samples.length));
      return Array.from({ length: count }, (_, at) =>
        Object.fromEntries(fields.map(([name, samples]) => [name, samples[at % samples.length]])),
      );
    }
    case 'optional':
    case 'nullable':
      return makeSamples((def as z.core.$ZodOptionalDef).innerType);
    case 'array':
      return [makeSamples((def as z.core.$ZodArrayDef).element)];
    case 'record':
      return makeSamples((def as z.core.$ZodRecordDef).valueType).map((value) => ({ name: value }));
    case 'union':
      return (def as z.core.$ZodUnionDef).options.flatMap(makeSamples);
    case 'pipe':
      return makeSamples((def as z.core.$ZodPipeDef).out);
    default:
      return ['any'];
  }
};

/** Records that are encoded field by field, with the names that the door gives. */
const encoded = ['/call/read', '/calls/stream_query'];

/** What the door does not lead to has calls field by field, too. */
const elsewhere = ['/shared/read'];

describe('an answer', () => {
  const valued = routes.filter((route) => !isPage(route) && ![...encoded, ...elsewhere].includes(route.path));

  it.each(valued)('of $path has no name of ours', (route) => {
    for (const sample of makeSamples(route.answer()))
      expect(JSON.stringify(answerToWeave(sample))).not.toMatch(/"svc(_\w+)?":/);
  });

  it('has names of ours to change', () => {
    const ours = valued.filter((route) => /"svc_\w+":/.test(JSON.stringify(makeSamples(route.answer()))));
    expect(ours.map(({ path }) => path)).toContain('/feedback/create');
  });

  it('keeps what clients have reported', () => {
    const free = { payload: { svc_ref: 1 }, val: { svc_user_id: 2 } };
    expect(answerToWeave(free)).toEqual(free);
  });
});

describe('a request', () => {
  it('gets our names, in all that is not free', () => {
    const start = { wb_user_id: 'u', wb_run_id: 'r', wb_run_step: 1, inputs: { wb_run_id: 'free' } };
    expect(requestFromWeave({ batch: [{ mode: 'start', req: { start } }] })).toEqual({
      batch: [
        {
          mode: 'start',
          req: {
            start: { svc_user_id: 'u', svc_run_id: 'r', svc_run_step: 1, inputs: { wb_run_id: 'free' } },
          },
        },
      ],
    });
    expect(requestFromWeave({ weave_ref: 'x', payload: { weave_ref: 'y' } })).toEqual({
      svc_ref: 'x',
      payload: { weave_ref: 'y' },
    });
  });

  it('gets our paths, and what it compares them with stays', () => {
    const typed = { $literal: 'summary.weave.status' };
    expect(
      requestFromWeave({
        query: { $expr: { $and: [{ $eq: [{ $getField: 'summary.weave.status' }, typed] }] } },
        sort_by: [{ field: 'wb_user_id', direction: 'asc' }],
        columns: ['summary.weave', 'inputs.wb_user_id', 'feedback'],
        group_by: ['wb_user_id'],
        filter: { wb_user_ids: ['u'] },
      }),
    ).toEqual({
      query: { $expr: { $and: [{ $eq: [{ $getField: 'summary.svc.status' }, typed] }] } },
      sort_by: [{ field: 'svc_user_id', direction: 'asc' }],
      columns: ['summary.svc', 'inputs.wb_user_id', 'feedback'],
      group_by: ['svc_user_id'],
      filter: { svc_user_ids: ['u'] },
    });
  });

  it('may be nested however deep', () => {
    const deep = (levels: number) =>
      JSON.parse(`${'{"$not":['.repeat(levels)}{"$getField":"wb_user_id"}${']}'.repeat(levels)}`);
    expect(JSON.stringify(requestFromWeave({ query: deep(1000) }))).toContain('"svc_user_id"');
    const lists = JSON.parse(`${'['.repeat(100_000)}${']'.repeat(100_000)}`);
    for (const name of ['query', 'fields', 'filter'])
      expect(requestFromWeave({ [name]: lists })).toBeDefined();
  });

  it('is not copied where nothing changes, and __proto__ stays a field', () => {
    const same = { batch: [{ mode: 'end', req: { end: { id: 'c' } } }] };
    expect(requestFromWeave(same)).toBe(same);
    const odd = JSON.parse('{"__proto__": {"wb_run_id": 1}, "wb_run_id": 2}');
    expect(JSON.stringify(requestFromWeave(odd))).toBe('{"__proto__":{"svc_run_id":1},"svc_run_id":2}');
  });

  it.each([
    ['weave_ref', 'svc_ref'],
    ['weave', 'weave'],
    ['feedback.[wb_user_id].payload.x', 'feedback.[wb_user_id].payload.x'],
    ['summary.weave', 'summary.svc'],
    ['summary.weaver', 'summary.weaver'],
  ])('has %s as %s', (weave, own) => {
    expect(pathFromWeave(weave)).toBe(own);
  });
});

it('refs come out as they went in', () => {
  const sent = JSON.stringify({
    ref: 'weave:///a/b/object/x:v0',
    text: 'see weave:///a/b/object/x:v0',
    quoted: JSON.stringify({ ref: 'weave:///a/b/object/x:v0' }),
  });
  expect(storedRefs(sent)).toContain('"svc:///a/b/object/x:v0"');
  expect(refsToWeave(storedRefs(sent))).toBe(sent);
});

it('an error names places and refs as Weave does', () => {
  const error = invalidAt(
    ['body', 'svc_ref'],
    'should be a ref such as svc:///acme/shop/call/<id>, see svc_user_id',
  );
  expect(errorToWeave(error).detail).toEqual([
    {
      loc: ['body', 'weave_ref'],
      msg: 'should be a ref such as weave:///acme/shop/call/<id>, see wb_user_id',
      type: 'value_error',
    },
  ]);
});
