import { describe, expect, it } from 'vitest';
import { errorOf, problemsOf } from '../../../../lambdas/log/problems.ts';

const locOf = (type: string, ...loc: string[]) => problemsOf([{ loc, msg: 'quotes the body', type }])[0]?.loc;

describe('the place of a problem', () => {
  it('is its steps, with dots', () => {
    expect(locOf('missing', 'body', 'batch', '3', 'req', 'start', 'op_name')).toBe(
      'body.batch.3.req.start.op_name',
    );
    expect(locOf('list_type', 'body', 'query', '$expr', '$and')).toBe('body.query.$expr.$and');
    expect(locOf('value_error', 'body', 'query', '$expr', '$eq', '0', '$getField')).toBe(
      'body.query.$expr.$eq.0.$getField',
    );
  });

  it.each([
    ['a field that there is none of', 'body.start.*', ['extra_forbidden', 'body', 'start', 'ssn_078051120']],
    ['a model', 'body.costs.*.prompt_token_cost', ['missing', 'body', 'costs', 'gpt', 'prompt_token_cost']],
    [
      'an operator that there is none of',
      'body.query.$expr.*',
      ['value_error', 'body', 'query', '$expr', 'secret'],
    ],
    [
      'a header for an upstream',
      'body.extra_headers.*',
      ['value_error', 'body', 'extra_headers', 'sk-proj-abcdef0123456789'],
    ],
    ['what no name of the service looks like', 'body.*', ['missing', 'body', 'my secret']],
    ['a key', 'body.*', ['missing', 'body', `svc_0123456789abcdef_${'0'.repeat(64)}`]],
  ] as const)('does not have %s in it', (_, expected, [type, ...loc]) => {
    expect(locOf(type, ...loc)).toBe(expected);
  });
});

describe('problems', () => {
  it('beyond the tenth are left out', () => {
    const detail = { loc: ['body'], msg: '', type: 'missing' };
    expect(problemsOf(Array.from({ length: 11 }, () => detail))).toHaveLength(10);
  });
});

describe('an error', () => {
  it('that is no Error is not told: it may be anything', () => {
    expect(errorOf('a payload')).toEqual({ name: 'unknown', message: 'string' });
  });
});
