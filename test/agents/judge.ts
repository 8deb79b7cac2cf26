import type { AnsweredCall } from '../support/otel/agent-captures.ts';
import type { Truth } from './model.ts';

/** What a person expects to see of a program. */
export interface Expected {
  readonly question: string;
  readonly answer: string;
  /** The names of all calls of tools. */
  readonly tools: readonly string[];
  /** The tools among them that fail. */
  readonly failing: readonly string[];
  /** The names of all agents. */
  readonly agents: readonly string[];
  /** The conversation; absent if the client makes an id of its own, null if it names none. */
  readonly thread?: string | null;
  /** null if the client names none. */
  readonly user: string | null;
  /** How many turns the conversation has. */
  readonly turns: number;
  /** What a person says when a call waits for them; null if no span has it. Absent if nobody is asked. */
  readonly personsAnswer?: string | null;
  /** What its telemetry cannot have, with the reason. */
  readonly cannot: Readonly<Partial<Record<'answer' | 'question' | 'requests' | 'tokens', string>>>;
}

export interface Thread {
  readonly thread_id: string;
  readonly turn_count: number;
}

/** How long a person thinks, in seconds. */
export const pauseSeconds = 1.5;

/** What came of a program, as the table shows it. */
export interface Outcome {
  /** How many calls of each kind. */
  readonly operations: Readonly<Record<string, number>>;
  readonly tools: readonly string[];
  readonly agents: readonly string[];
  readonly tokens: number;
  /** What is not as a person expects. */
  readonly problems: readonly string[];
}

const count = (values: readonly string[]): Record<string, number> => {
  const counts: Record<string, number> = {};
  for (const value of values) counts[value] = (counts[value] ?? 0) + 1;
  return counts;
};

const unique = (values: readonly (string | null | undefined)[]): string[] =>
  [...new Set(values.filter((value) => typeof value === 'string'))].sort();

const say = (values: readonly (string | null)[]): string =>
  values.length === 0 ? 'none' : values.map((value) => value ?? 'null').join(', ');

const holds = (value: unknown, text: string): boolean => JSON.stringify(value ?? null).includes(text);

const hasMessage = (inputs: unknown, content: string): boolean =>
  JSON.stringify(inputs ?? null).includes(JSON.stringify({ role: 'user', content }));

/**
 * Judges what the API answers of a program.
 *
 * @param since when the program started, in ms
 */
export const judge = (
  expected: Expected,
  truth: Truth,
  calls: readonly AnsweredCall[],
  threads: readonly Thread[],
  since: number,
): Outcome => {
  const ofKind = (kind: string) => calls.filter(({ attributes }) => attributes.kind === kind);
  const models = ofKind('model');
  const toolCalls = ofKind('tool');
  const tools = toolCalls.map(({ attributes }) => attributes.tool?.name ?? '(no name)').sort();
  const agents = unique(calls.map(({ attributes }) => attributes.agent?.name));
  const tokens = calls
    .flatMap(({ summary }) => Object.values(summary.usage ?? {}))
    .reduce((sum, usage) => sum + (usage.input_tokens ?? 0) + (usage.output_tokens ?? 0), 0);
  const problems: string[] = [];
  const expect = (what: string, wanted: string | number, got: string | number) => {
    if (wanted !== got) problems.push(`${what}: ${got} instead of ${wanted}`);
  };
  const found = (what: string, is: boolean) => {
    if (!is) problems.push(what);
  };

  if (calls.length === 0) problems.push('nothing came');
  else {
    if (!expected.cannot.requests) expect('requests to the model', truth.requests, models.length);
    if (!expected.cannot.tokens) expect('tokens', truth.promptTokens + truth.completionTokens, tokens);
    expect('tools', say([...expected.tools].sort()), say(tools));
    const failed = toolCalls.filter(({ exception }) => exception !== null);
    expect(
      'failed tools',
      say([...expected.failing].sort()),
      say(failed.map(({ attributes }) => attributes.tool?.name ?? '(no name)').sort()),
    );
    expect('agents', say([...expected.agents].sort()), say(agents));
    const threadIds = unique(calls.map(({ thread_id }) => thread_id));
    if (expected.thread === undefined) expect('threads', 1, threadIds.length);
    else expect('threads', say(expected.thread === null ? [] : [expected.thread]), say(threadIds));
    if (expected.thread !== null)
      expect(
        'turns',
        expected.turns,
        threads.reduce((sum, { turn_count }) => sum + turn_count, 0),
      );
    const users = unique(calls.map(({ attributes }) => attributes.user?.id));
    if (expected.user !== null) expect('users', expected.user, say(users));
    const { cannot } = expected;
    if (!cannot.question)
      found(
        'no request has the question',
        models.some(({ inputs }) => holds(inputs, expected.question)) ||
          ofKind('agent').some(({ inputs }) => holds(inputs, expected.question)),
      );
    if (!cannot.answer)
      found(
        'no output has the answer',
        calls.some(({ output }) => holds(output, expected.answer)),
      );
    const waits = calls.map(({ summary }) => summary.svc.waited_ms ?? 0).filter((waited) => waited > 0);
    expect('calls that waited for a person', expected.personsAnswer === undefined ? 0 : 1, waits.length);
    found(
      'a call waited less than the person thought',
      waits.every((waited) => waited >= 0.8 * pauseSeconds * 1000),
    );
    expect('calls that still wait', 0, calls.filter(({ summary }) => summary.svc.waiting).length);
    const { personsAnswer } = expected;
    if (typeof personsAnswer === 'string')
      found(
        'no message of a user is what the person said',
        calls.some(({ inputs }) => hasMessage(inputs, personsAnswer)),
      );
    found(
      'a request to the model took no time',
      models.every(({ started_at, ended_at }) => ended_at !== null && ended_at > started_at),
    );
    found(
      'a call is dated before its program',
      calls.every(({ started_at }) => Date.parse(started_at) >= since - 1000),
    );
    const named = unique(calls.map(({ op_name }) => op_name)).length;
    if (calls.length > 40) problems.push(`${calls.length} calls of ${named} names: most are noise`);
  }
  return {
    operations: count(calls.map(({ attributes }) => attributes.kind ?? 'other')),
    tools,
    agents,
    tokens,
    problems,
  };
};
