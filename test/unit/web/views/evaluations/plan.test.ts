import { describe, expect, it } from 'vitest';
import {
  answerIn,
  type Choices,
  columnsIn,
  estimateTokens,
  estimateUsd,
  findExpected,
  isExact,
  matchColumns,
  type Plan,
  type PromptVersion,
  parsePlan,
  spans,
  toAttributes,
  toCallId,
  toChat,
  toPlans,
} from '../../../../../web/views/evaluations/plan.ts';

const version = (fields: Partial<PromptVersion> = {}): PromptVersion => ({
  name: 'support',
  ref: 'svc:///a/b/object/support:d',
  digest: 'd',
  version_index: 3,
  labels: [],
  messages: [{ role: 'user', content: 'Answer {question} in {{short}}' }],
  variables: ['question'],
  config: { model: 'gpt-4o-mini' },
  created_at: '2026-10-01T00:00:00Z',
  svc_user_id: 'ada',
  ...fields,
});

const plan: Plan = {
  prompt: 'support',
  version: 3,
  model: 'gpt-4o',
  variables: { question: 'inputs.question' },
  exact: 'expected',
  evaluators: ['svc:///a/b/object/polite:d'],
};

const row = { inputs: { question: 'Why?' }, expected: 'So.' };

describe('a plan', () => {
  it('is read from what it was stored as', () => {
    expect(parsePlan(JSON.parse(JSON.stringify(toAttributes(plan))))).toEqual(plan);
  });

  it.each([
    [undefined],
    [{ source: 'evaluation' }],
    [{ prompt: { name: 'a', version: 'b' }, plan: { model: 'm' } }],
    [{ prompt: { name: 'a', version: '1' }, plan: {} }],
  ])('is not in %j', (attributes) => {
    expect(parsePlan(attributes)).toBeUndefined();
  });

  const choices: Choices = {
    versions: [version(), version({ version_index: 4, variables: [] })],
    models: [],
    rows: [row],
    variables: plan.variables,
    exact: 'expected',
    evaluators: [{ ref: 'r', name: 'polite' }],
  };

  it('is made for each version and each model, with the variables of the version', () => {
    const made = toPlans({ ...choices, models: ['a', 'b'] }, 6);
    expect(made).toMatchObject({
      plans: [
        { version: 3, model: 'a', variables: { question: 'inputs.question' } },
        { version: 3, model: 'b' },
        { version: 4, model: 'a', variables: {} },
        { version: 4, model: 'b' },
      ],
      scorers: ['exact_match', 'polite'],
    });
    expect(toPlans(choices, 6)).toMatchObject({
      plans: [{ model: 'gpt-4o-mini' }, { model: 'gpt-4o-mini' }],
    });
  });

  it.each<[Partial<Choices>, string]>([
    [{ versions: [] }, 'Choose at least one version of a prompt.'],
    [{ versions: [version({ config: {} })] }, 'v3 of support names no model: choose one.'],
    [{ rows: [] }, 'Choose a dataset with rows.'],
    [{ variables: {} }, 'Choose a column for {question}.'],
    [{ exact: undefined, evaluators: [] }, 'Choose at least one score.'],
    [
      { evaluators: [{ ref: 'r', name: 'exact_match' }] },
      'Two scores are called exact_match: choose one of them.',
    ],
    [{ models: ['a', 'b', 'c', 'd'] }, 'These are 8 evaluations, and 6 can be compared: choose fewer.'],
  ])('says what is missing of %j', (fields, problem) => {
    expect(toPlans({ ...choices, ...fields }, 6)).toEqual({ problem });
  });
});

describe('columns', () => {
  it('are paths into rows, those of inputs first, and fill variables of their names', () => {
    const columns = columnsIn([row, { source: 'x', inputs: { shop: 'A' } }]);
    expect(columns).toEqual(['inputs.question', 'inputs.shop', 'inputs', 'expected', 'source']);
    expect(matchColumns(['question', 'source', 'other'], columns)).toEqual({
      question: 'inputs.question',
      source: 'source',
    });
    expect(findExpected(columns)).toBe('expected');
    expect(findExpected(['inputs'])).toBeUndefined();
  });
});

describe('a request', () => {
  it('has the filled messages and what the config sets', () => {
    const config = {
      model: 'gpt-4o-mini',
      parameters: { temperature: 0, stream: true },
      tools: [{ type: 'function' }],
      response_schema: { type: 'object' },
    };
    expect(toChat(version({ config }), plan, row)).toEqual({
      body: {
        temperature: 0,
        tools: [{ type: 'function' }],
        response_format: {
          type: 'json_schema',
          json_schema: { name: 'answer', schema: { type: 'object' }, strict: true },
        },
        model: 'gpt-4o',
        messages: [{ role: 'user', content: 'Answer Why? in {short}' }],
      },
    });
  });

  it('of a prompt that is one text says it as the user', () => {
    const { messages: _messages, ...rest } = version();
    expect(toChat({ ...rest, text: '{question}' }, plan, row)).toMatchObject({
      body: { messages: [{ role: 'user', content: 'Why?' }] },
    });
  });

  it.each([[{}], [{ inputs: { question: null } }]])('is not made of %j, which lacks a value', (lacking) => {
    expect(toChat(version(), plan, lacking)).toEqual({
      problem: 'The row has nothing for {question} in inputs.question.',
    });
  });

  it('is priced by a token for four bytes and the tokens that it may be answered', () => {
    const body = { messages: ['x'.repeat(396)] };
    expect(estimateTokens(body)).toEqual({ input: 100, output: 150 });
    expect(estimateTokens({ ...body, max_tokens: 10 })).toEqual({ input: 100, output: 10 });
    expect(estimateUsd([body, body], { input: 1, output: 0.1 })).toBeCloseTo(230);
  });
});

describe('an answer', () => {
  it('is its text, or the message if it calls tools', () => {
    const ofMessage = (message: object) => answerIn({ choices: [{ message }] });
    expect(ofMessage({ role: 'assistant', content: 'Hi' })).toBe('Hi');
    const calls = { role: 'assistant', content: null, tool_calls: [{ id: 'c' }] };
    expect(ofMessage(calls)).toEqual(calls);
    expect(answerIn(null)).toBeNull();
  });

  it.each([
    [' So.\n', 'So.', true],
    ['so.', 'So.', false],
    ['{"b": 1, "a": [2]}', { a: [2], b: 1 }, true],
    ['{"a": [2, 1]}', { a: [1, 2] }, false],
    ['12', 12, true],
    ['12', '12', true],
    ['no JSON', 12, false],
    ['anything', undefined, false],
    [{ role: 'assistant' }, 'assistant', false],
  ])('%j equals %j: %s', (given, expected, exact) => {
    expect(isExact(given, expected)).toBe(exact);
  });
});

describe('the ids of an evaluation', () => {
  it('follow from its trace and from places, and are all different', () => {
    const trace = 'a'.repeat(16) + 'b'.repeat(16);
    const all = [spans.root];
    for (let at = 0; at < 200; at++)
      all.push(spans.row(at), spans.request(at), ...[0, 1, 2].map((scorer) => spans.scorer(at, scorer)));
    expect(new Set(all).size).toBe(all.length);
    for (const span of all) expect(span).toMatch(/^[\da-f]{16}$/);
    expect(toCallId(trace, spans.root)).toBe(`${'b'.repeat(16)}0000000000000001`);
  });
});
