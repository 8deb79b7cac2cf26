import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ErrorDetail, ServiceError } from '../../../../foundations/wire/index.ts';
import { type BodySchema, parseBody } from '../../../../foundations/wire/schema.ts';
import {
  operations,
  requestSchema,
  validator,
  validatorOfAnyTime,
} from '../../../support/documents/document.ts';
import { runs, seed } from '../../../support/run/sampling.ts';
import { toArbitrary } from '../../../support/values/arbitrary.ts';
import { mutated } from '../../../support/values/mutated.ts';

/** What the parser refuses, by why JSON Schema cannot say so. */
const unsayable: readonly { readonly why: string; readonly is: (detail: ErrorDetail) => boolean }[] = [
  { why: 'fields that are there with their include alone', is: ({ msg }) => msg.includes('include_') },
  {
    why: 'sizes, which are fields with their include alone',
    is: ({ msg }) => msg.startsWith('there is no such field; '),
  },
  { why: 'the same id twice in a batch', is: ({ msg }) => msg.startsWith('this id stands in item') },
  {
    why: 'lone surrogates, and characters that count as two',
    is: ({ msg }) => /surrogates|1 to \d+ .*characters/.test(msg),
  },
  {
    why: 'the years that a time can be in, and literals beside a time',
    is: ({ type }) => type === 'datetime_parsing',
  },
  {
    why: 'spans of time, their zones, and how many buckets they have',
    is: ({ msg }) =>
      /^(should be (later than start|earlier than now|within \d+ days|the IANA|seconds: less)|makes more)/.test(
        msg,
      ),
  },
  {
    why: 'what is made of values of a type, and metrics that would have one name',
    is: ({ msg }) => / is not made of |^an earlier metric is called /.test(msg),
  },
  {
    why: 'what of an alert fits together, and names of webhooks',
    is: ({ loc, msg }) =>
      loc.join('.').endsWith('metric.path') ||
      /^should (have exactly one of|have the aggregation sum|be (below|above) alert|not ask for feedback|be the name of a web)/.test(
        msg,
      ) ||
      /^is (not |only )?for (metrics|feedback|a webhook)/.test(msg),
  },
  {
    why: 'choices of which one may be made, and labels that could be taken for something else',
    is: ({ msg }) => /^should (have at most one of|be neither latest|be at most 768 bytes)/.test(msg),
  },
  {
    why: 'of two places one',
    is: ({ msg, loc, type }) =>
      msg.startsWith('name one of project_id and entity') ||
      (type === 'missing' && loc.join('.') === 'body.project_id'),
  },
  { why: 'a project that is said twice', is: ({ msg }) => msg.endsWith(', to confirm') },
  { why: 'a key that JSON.parse takes and zod passes over', is: ({ msg }) => msg.includes('__proto__') },
];

/** What is wrong with a body by the parser; undefined where nothing is. */
const refusal = (body: BodySchema<unknown>, value: unknown): readonly ErrorDetail[] | undefined => {
  try {
    parseBody(body, JSON.stringify(value));
    return undefined;
  } catch (error) {
    if (error instanceof ServiceError) return error.detail;
    throw error;
  }
};

const taking = operations.flatMap(({ path, route }) => {
  const schema = requestSchema(path);
  return route.request && schema ? [{ path, schema, body: route.request() }] : [];
});

describe.each(taking)('$path', ({ schema, body }) => {
  const problems = validator(schema);
  const problemsOfAnyTime = validatorOfAnyTime(schema);
  const bodies = toArbitrary(schema);

  it('parses what its schema accepts, except for rules that no schema can express', () => {
    fc.assert(
      fc.property(bodies, (value) => {
        expect(problems(value)).toEqual([]);
        const unexplained = refusal(body, value)?.filter((detail) => !unsayable.some(({ is }) => is(detail)));
        expect(unexplained ?? []).toEqual([]);
      }),
      { numRuns: runs(50, 600), seed },
    );
  });

  it('has a schema that accepts what it parses', () => {
    fc.assert(
      fc.property(mutated(bodies), (value) => {
        const refused = refusal(body, value);
        expect('polluted' in {}).toBe(false);
        if (refused) return;
        // A time may be written in more ways than RFC 3339 has.
        expect(problemsOfAnyTime(value)).toEqual([]);
      }),
      { numRuns: runs(100, 1200), seed },
    );
  });
});
