import { isDeepStrictEqual } from 'node:util';
import { describe, expect, it } from 'vitest';
import { inContext, type Translation, translate } from '../../../../../core/doors/otel/conventions/index.ts';
import type { Span } from '../../../../../core/doors/otel/span.ts';
import { textsIn } from '../../../../support/otel/agent-captures.ts';
import { captureNames, type Expected, readCapture, readSpans } from '../../../../support/otel/captures.ts';

interface Read {
  readonly span: Span;
  readonly translation: Translation;
}

const ancestors = (read: Read, all: readonly Read[]): Read[] => {
  const parent = all.find(
    ({ span }) => span.traceId === read.span.traceId && span.spanId === read.span.parentSpanId,
  );
  return parent ? [parent, ...ancestors(parent, all)] : [];
};

const getError = ({ span, translation }: Read): string =>
  span.status.code === 2
    ? textsIn([span.status.message, ...span.events.map(({ attributes }) => [...attributes.values()])])
    : (translation.exception ?? '');

/** Genkit names a model by its path. Its name is the end of it. */
const sameModel = (model: unknown, wanted: string): boolean =>
  model === wanted || wanted === `/model/${model}`;

/** Facts of an operation that the span contradicts, as `what: found`. */
const contradictions = (read: Read, wanted: Expected, all: readonly Read[]): string[] => {
  const { inputs, output, kind, usage, threadId, userId, prompt } = read.translation;
  const [counts] = Object.values(usage ?? {});
  const around = ancestors(read, all);
  const within = (on: 'ancestor' | 'trace' | undefined) =>
    on === undefined
      ? [read]
      : on === 'ancestor'
        ? around
        : all.filter(({ span }) => span.traceId === read.span.traceId);
  const facts: readonly [string, unknown, boolean][] = [
    ['kind', kind, kind === wanted.kind],
    ['prompt', prompt, wanted.prompt === undefined || isDeepStrictEqual(prompt, wanted.prompt)],
    ['model', inputs.model, wanted.model === undefined || sameModel(inputs.model, wanted.model)],
    ['prompt tokens', counts?.input_tokens, (counts?.input_tokens ?? 0) === (wanted.prompt_tokens ?? 0)],
    [
      'completion tokens',
      counts?.output_tokens,
      (counts?.output_tokens ?? 0) === (wanted.completion_tokens ?? 0),
    ],
    ...(wanted.input_contains ?? []).map(
      (text) => [`input ${text}`, inputs, textsIn(inputs).includes(text)] as [string, unknown, boolean],
    ),
    ...(wanted.output_contains ?? []).map(
      (text) => [`output ${text}`, output, textsIn(output).includes(text)] as [string, unknown, boolean],
    ),
    ...(wanted.input_contains_on_enclosing_span ?? []).map(
      (text) =>
        [
          `input around ${text}`,
          '',
          around.some((outer) => textsIn(outer.translation.inputs).includes(text)),
        ] as [string, unknown, boolean],
    ),
    ...(wanted.output_contains_on_enclosing_span ?? []).map(
      (text) =>
        [
          `output around ${text}`,
          '',
          around.some((outer) => textsIn(outer.translation.output).includes(text)),
        ] as [string, unknown, boolean],
    ),
    ['error', getError(read), getError(read).includes(wanted.error_contains ?? '')],
    [
      'no error',
      read.translation.exception,
      wanted.error_contains !== undefined || read.translation.exception === undefined,
    ],
    [
      'conversation',
      threadId,
      wanted.conversation_id === undefined ||
        within(wanted.conversation_id_on).some(
          ({ translation }) => translation.threadId === wanted.conversation_id,
        ),
    ],
    [
      'user',
      userId,
      wanted.user_id === undefined ||
        within(wanted.user_id_on).some(({ translation }) => translation.userId === wanted.user_id),
    ],
  ];
  return facts.flatMap(([what, found, holds]) => (holds ? [] : [`${what}: ${JSON.stringify(found)}`]));
};

/** Finds a span for each operation, in order of time. Parents come before their children. */
const match = (all: readonly Read[], expected: readonly Expected[]): string[] => {
  const found: (Read | undefined)[] = [];
  return expected.flatMap((wanted, index) => {
    const parent = wanted.parent === null ? undefined : found[wanted.parent];
    const candidates = all.filter(
      (read) =>
        !found.includes(read) &&
        read.span.name.includes(wanted.name_contains) &&
        (wanted.parent === null || (parent !== undefined && ancestors(read, all).includes(parent))),
    );
    const judged = candidates.map((read) => ({ read, wrong: contradictions(read, wanted, all) }));
    const best = judged.find(({ wrong }) => wrong.length === 0);
    found.push(best?.read);
    const nearest = judged.sort((a, b) => a.wrong.length - b.wrong.length)[0];
    return best
      ? []
      : [`${index} ${wanted.kind} ${wanted.name_contains}: ${nearest?.wrong.join('; ') ?? 'no such span'}`];
  });
};

const sum = (all: readonly Read[], name: 'input_tokens' | 'output_tokens'): number =>
  all
    .flatMap(({ translation }) => Object.values(translation.usage ?? {}))
    .reduce((total, usage) => total + (usage[name] ?? 0), 0);

const wantedSum = (expected: readonly Expected[], name: 'prompt_tokens' | 'completion_tokens'): number =>
  expected.reduce((total, wanted) => total + (wanted[name] ?? 0), 0);

describe.each(captureNames)('the capture %s', (name) => {
  const read = async () => {
    const capture = readCapture(name);
    const spans = await readSpans(capture);
    const all = inContext(spans.map((span) => ({ span, translation: translate(span) }))).toSorted((a, b) =>
      Number(a.span.startTimeUnixNano - b.span.startTimeUnixNano),
    );
    return { all, expected: capture.expected };
  };

  it('says of each operation what a person expects', async () => {
    const { all, expected } = await read();
    expect(match(all, expected)).toEqual([]);
  });

  it('counts each token once', async () => {
    const { all, expected } = await read();
    expect({ input: sum(all, 'input_tokens'), output: sum(all, 'output_tokens') }).toEqual({
      input: wantedSum(expected, 'prompt_tokens'),
      output: wantedSum(expected, 'completion_tokens'),
    });
  });

  it('names the model that answered in its usage', async () => {
    const { all, expected } = await read();
    const known = expected.flatMap(({ model = '', response_model = '' }) => [model, response_model]);
    const models = all.flatMap(({ translation }) => Object.keys(translation.usage ?? {}));
    // A model can be named with its provider before it.
    const unknown = models.filter(
      (model) => !known.some((name) => name === model || name.endsWith(`/${model}`)),
    );
    expect(unknown).toEqual([]);
  });
});
