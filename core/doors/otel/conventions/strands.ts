import { nonEmptyString } from '../../../../foundations/wire/index.ts';
import { fromRepr } from '../messages/python.ts';
import { first, get, structured } from '../values.ts';
import type { Kind, Resume, Wait } from './convention.ts';
import type { SpanReader } from './reader.ts';

/*
 * Interrupts of Strands. The run of an agent ends with `interrupt` and the questions as Python's text. The
 * next one is given the answers, which no span has: it is a run that nobody asked anything.
 * Source: strands-agents, `src/strands/telemetry/tracer.py` and `interrupt.py`.
 */

const details = 'gen_ai.client.inference.operation.details';

const isRun = ({ span }: SpanReader, kind: Kind): boolean =>
  kind === 'agent' && span.scope.name === 'strands.telemetry.tracer';

/** The answers of a run, by either form of events, or as an attribute. */
const readAnswers = (span: SpanReader): readonly unknown[] => [
  ...span.events((name) => name === 'gen_ai.choice').map(({ attributes }) => attributes),
  ...[
    ...span
      .events((name) => name === details)
      .map(({ attributes }) => get(attributes, 'gen_ai.output.messages')),
    span.peek('gen_ai.output.messages'),
  ].flatMap((messages) => structured(messages) as unknown),
];

const getWords = (answer: unknown): string | undefined => {
  const [part] = [get(answer, 'parts')].flat();
  return nonEmptyString(first(answer, 'message')) ?? nonEmptyString(first(part, 'content'));
};

/** The questions of a run that a hook or a tool has interrupted. */
export const strandsInterrupt = (span: SpanReader, kind: Kind): Wait | undefined => {
  if (!isRun(span, kind)) return undefined;
  const answer = readAnswers(span).find((candidate) => get(candidate, 'finish_reason') === 'interrupt');
  if (answer === undefined) return undefined;
  const text = getWords(answer)?.trim() ?? '';
  const questions = fromRepr(text) ?? structured(text);
  return {
    keys: Array.isArray(questions)
      ? questions.flatMap((question) => nonEmptyString(get(question, 'id')) ?? [])
      : [],
  };
};

const isInput = (name: string): boolean => /^gen_ai\.(?:user|assistant|tool)\.message$/.test(name);

/** Whether an attribute of the run or of its event has messages that it was given. */
const hasMessages = (value: unknown): boolean => {
  const messages = structured(value);
  return Array.isArray(messages) ? messages.length > 0 : messages !== undefined;
};

/** A run that goes on with what it had been asked before. */
export const strandsResume = (span: SpanReader, kind: Kind): Resume | undefined => {
  if (!isRun(span, kind)) return undefined;
  const messages = [
    span.peek('gen_ai.input.messages'),
    ...span
      .events((name) => name === details)
      .map(({ attributes }) => get(attributes, 'gen_ai.input.messages')),
  ];
  return messages.some(hasMessages) || span.events(isInput).length > 0 ? undefined : { keys: [] };
};
