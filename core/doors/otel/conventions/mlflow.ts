import { nonEmptyString } from '../../../../foundations/wire/index.ts';
import { answerMessages, chatInputs } from '../messages/chat.ts';
import { asInputs, first, parsed, structured } from '../values.ts';
import { asMessages, type Convention, field, kindNamed, type Named } from './convention.ts';
import type { SpanReader } from './reader.ts';
import { parseCounts } from './usage.ts';

/** Every value is JSON text, texts too. */
const text = (span: SpanReader, ...keys: readonly string[]): string | undefined => {
  for (const key of keys) {
    const value = nonEmptyString(parsed(span.peek(key)));
    if (value !== undefined) return value;
  }
  return undefined;
};

/** The prompt that a program loaded last while the span was under way: `[{"name", "version"}, …]`. */
const linkedPrompt = (span: SpanReader): Named | undefined => {
  const linked = structured(parsed(span.peek('mlflow.linkedPrompts')));
  const last: unknown = Array.isArray(linked) ? linked.at(-1) : undefined;
  const name = nonEmptyString(first(last, 'name'));
  const version = nonEmptyString(first(last, 'version'));
  return name === undefined ? undefined : { name, ...(version !== undefined && { version }) };
};

/**
 * MLflow's tracing.
 * Source: mlflow, `mlflow/tracing/constant.py`.
 */
export const mlflow: Convention = {
  matches: ({ namespaces }) => namespaces.has('mlflow'),
  kind: (span) => kindNamed(text(span, 'mlflow.spanType')),
  inputs: (span, kind) => {
    if (kind === 'model')
      return [
        () => chatInputs(span.parsed('mlflow.spanInputs')),
        () => field('model', text(span, 'model', 'mlflow.llm.model')),
      ];
    return [() => asInputs(span.parsed('mlflow.spanInputs'))];
  },
  output: (span, kind) => {
    const output = span.parsed('mlflow.spanOutputs');
    return kind === 'model' ? asMessages(answerMessages(output)) : output;
  },
  usage: (span) => {
    const outputs = parsed(span.peek('mlflow.spanOutputs'));
    const model =
      text(span, 'mlflow.llm.model') ?? nonEmptyString(first(outputs, 'model')) ?? text(span, 'model');
    return (
      parseCounts(span.parsed('mlflow.chat.tokenUsage'), model) ?? parseCounts(first(outputs, 'usage'), model)
    );
  },
  prompt: linkedPrompt,
  thread: (span) => text(span, 'mlflow.trace.session', 'mlflow.traceTag.mlflow.trace.session'),
  user: (span) => text(span, 'mlflow.trace.user', 'mlflow.traceTag.mlflow.trace.user'),
};
