import { nonEmptyString } from '../../../../foundations/wire/index.ts';
import { resultText } from '../messages/message.ts';
import { first, get, isDict, structured } from '../values.ts';
import type { SpanReader } from './reader.ts';

/*
 * Tools that failed without their spans saying so: an agent catches the error and hands it to the
 * model as the result.
 */

/** Where frameworks keep a tool's result as it came. */
const results = [
  'output.value',
  'traceloop.entity.output',
  'langfuse.observation.output',
  'gen_ai.completion',
  'mlflow.spanOutputs',
  'gen_ai.tool.call.result',
];

/** How results begin that say what went wrong instead of an answer. */
const failed = new RegExp(
  `^(?:${[
    'Error(?: \\w+ing(?: the)? tool\\b[^:\\n]*)?: ',
    // OpenAI's agents.
    'An error occurred while (?:running|parsing) ',
    // CrewAI.
    'I encountered an error while trying to use the tool',
  ].join('|')})`,
);

/** The longest result that can be nothing but an error. */
const maxLength = 8192;

/** The fields of LangChain's message of a tool, however it is wrapped. */
const toolMessage = (value: unknown): unknown => {
  const inner = get(value, 'output') ?? value;
  return get(inner, 'kwargs') ?? get(inner, 'data') ?? inner;
};

/** What a result says of an error, by a mark or by its only field. */
const marked = (value: unknown): string | undefined => {
  const message = toolMessage(structured(value));
  if (!isDict(message)) return undefined;
  const isError =
    get(message, 'isError') === true ||
    get(message, 'is_error') === true ||
    /^error-(text|json)$/.test(String(get(message, 'type'))) ||
    (get(message, 'status') === 'error' && get(message, 'content') !== undefined);
  if (isError) return resultText(first(message, 'content', 'value', 'text') ?? message) || 'error';
  return Object.keys(message).length === 1 ? nonEmptyString(get(message, 'error')) : undefined;
};

/**
 * The error of a tool whose span ended without one.
 *
 * @param output the result as the call has it
 */
export const findFailure = (span: SpanReader, output: unknown): string | undefined => {
  for (const key of results) {
    const error = marked(span.peek(key));
    if (error !== undefined) return error;
  }
  const text = resultText(output ?? '');
  // Strands says how the tool ended.
  if (span.peek('gen_ai.tool.status') === 'error') return text || 'error';
  if (text.length <= maxLength && failed.test(text)) return text;
  return span.span.status.code === 1 ? undefined : span.peekText('error.type');
};
