import { describe, expect, it } from 'vitest';
import type { Check } from '../../../../../api/evaluators.ts';
import { checkSubject } from '../../../../../core/workers/evaluators/check.ts';
import type { Subject } from '../../../../../core/workers/evaluators/subject.ts';

const none: Check = {
  contains: null,
  regex: null,
  jsonSchema: null,
  maxLatencyMs: null,
  maxCostUsd: null,
  maxToolCalls: null,
};

/** What a check says of an output: its value and its reason, or why there is none. */
const verdict = (check: Partial<Check>, outputText: string): Promise<unknown> =>
  checkSubject({ ...none, ...check }, { outputText } as Subject).then(
    ({ value, reason }) => [value, reason],
    (error: Error) => `${error.name}: ${error.message}`,
  );

/** Hostile checks that are taken, each with a text that it takes seconds or more for. */
const hostile: readonly (readonly [string, Partial<Check>, string])[] = [
  ['an expression with many states', { regex: `(?i)${'\\pL{1000}'.repeat(100)}` }, 'a'.repeat(100_000)],
  [
    'a comparison of each item with each',
    { jsonSchema: { uniqueItems: true } },
    JSON.stringify(Array.from({ length: 140_000 }, (_, i) => i)),
  ],
  [
    'a recursion that doubles with each level of the output',
    {
      jsonSchema: {
        $defs: {
          deeper: {
            allOf: [
              { properties: { a: { $ref: '#/$defs/deeper' } } },
              { properties: { a: { $ref: '#/$defs/deeper' } } },
            ],
          },
        },
        $ref: '#/$defs/deeper',
      },
    },
    `${'{"a":'.repeat(60)}1${'}'.repeat(60)}`,
  ],
];

describe('a check', () => {
  it.each(hostile)('that is %s is ended, and says so', async (_, check, text) => {
    expect(await verdict(check, text)).toBe('CheckFailed: the check took longer than 250 ms');
    // Another thread takes its place.
    expect(await verdict({ regex: '^\\d+$' }, '42')).toEqual([true, 'the output matches']);
  });

  // Whether time or memory ends first depends on the machine.
  it('that takes much memory is ended, and says so', async () => {
    const text = `[${'{"a":{}},'.repeat(110_000)}1]`;
    // Each item fails in hundreds of ways, all of which are kept.
    const jsonSchema = { contains: { anyOf: Array(500).fill({ required: ['x'] }) } };
    expect(await verdict({ jsonSchema }, text)).toMatch(/^CheckFailed: the check took (?:longer|more) than/);
    expect(await verdict({ jsonSchema: { type: 'array' } }, text)).toEqual([true, 'it fits the schema']);
  });

  it('waits for those before it, and each has time of its own', async () => {
    const [, check, text] = hostile[0] ?? expect.fail('there is none');
    const all = await Promise.all([
      verdict(check, text),
      verdict({ regex: 'b' }, 'abc'),
      verdict(check, text),
      verdict({ jsonSchema: { type: 'number' } }, '"x"'),
    ]);
    expect(all).toEqual([
      expect.stringContaining('longer than 250 ms'),
      [true, 'the output matches'],
      expect.stringContaining('longer than 250 ms'),
      [false, expect.stringContaining('Instance type "string" is invalid')],
    ]);
  });

  it('looks at the beginning of a long output, and says so', async () => {
    const long = `${'a'.repeat(100_000)}b`;
    const name = 'what was looked at, the first 100000 characters of the output,';
    expect(await verdict({ regex: '^a+$' }, long)).toEqual([true, `${name} matches`]);
    expect(await verdict({ regex: 'b' }, long)).toEqual([false, `${name} does not match`]);
    expect(await verdict({ contains: 'ab' }, long)).toEqual([true, 'the output has the text']);
    expect(await verdict({ contains: 'b' }, `${'a'.repeat(1_000_000)}b`)).toEqual([
      false,
      expect.stringContaining('the first 1000000 characters'),
    ]);
    expect(await verdict({ jsonSchema: true }, JSON.stringify('a'.repeat(1_000_000)))).toBe(
      'CheckFailed: the output has 1000002 characters, and a JSON Schema looks at 1000000 at most',
    );
  });

  it('of a schema that is not taken any more says so', async () => {
    expect(await verdict({ jsonSchema: { items: { format: 'iri' } } }, '[]')).toMatch(
      /^CheckFailed: json_schema\.items\.format should be one of date-time, date, /,
    );
  });

  it.each([
    ['http://averyveryverylongsinglelabelhostname', true],
    [`http://${'a'.repeat(60)}!`, false],
    ['https://example.org/a', true],
  ])('of the format url says at once whether %s is one', async (url, isOne) => {
    const found = await verdict({ jsonSchema: { format: 'url' } }, JSON.stringify(url));
    expect(found).toEqual([isOne, expect.any(String)]);
  });

  it('has no formats but those of the service', async () => {
    expect(await verdict({ jsonSchema: { format: 'uuid' } }, '"x"')).toEqual([
      false,
      '#: String does not match format "uuid".',
    ]);
  });
});
