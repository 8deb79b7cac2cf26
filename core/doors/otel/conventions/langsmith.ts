import { nonEmptyString } from '../../../../foundations/wire/index.ts';
import { answerMessages, chatInputs } from '../messages/chat.ts';
import { asInputs, first, structured } from '../values.ts';
import {
  asMessages,
  asNamed,
  type Convention,
  kindNamed,
  prefixed,
  sessionNames,
  unwrappedResult,
  userNames,
} from './convention.ts';
import { commandIn, readInterrupt } from './langgraph.ts';
import { parseCounts } from './usage.ts';

/**
 * LangSmith's SDK in its OpenTelemetry mode: the whole inputs and outputs as one JSON text each.
 * `langsmith.trace.session_name` is the project.
 * Source: langsmith-sdk, `python/langsmith/_internal/otel/_otel_exporter.py`.
 */
export const langSmith: Convention = {
  matches: ({ namespaces }) => namespaces.has('langsmith'),
  kind: (span) => kindNamed(span.peekText('langsmith.span.kind')),
  inputs: (span, kind) => [
    () => (kind === 'model' ? chatInputs(span.value('gen_ai.prompt')) : asInputs(span.json('gen_ai.prompt'))),
  ],
  output: (span, kind) => {
    const output = span.json('gen_ai.completion');
    // A failed run has an output of null.
    const result = unwrappedResult(output);
    if (result === null || kind !== 'model') return result;
    return asMessages(answerMessages(result));
  },
  usage: (span) => {
    const completion = structured(span.peek('gen_ai.completion'));
    return parseCounts(
      span.value('langsmith.metadata.usage_metadata') ?? first(completion, 'usage_metadata', 'usage'),
      span.peekText('gen_ai.response.model', 'gen_ai.request.model', 'langsmith.metadata.ls_model_name') ??
        nonEmptyString(first(completion, 'model')),
    );
  },
  agent: (span) => asNamed(span.peekText('langsmith.metadata.lc_agent_name')),
  thread: prefixed('langsmith.metadata.', sessionNames),
  user: prefixed('langsmith.metadata.', userNames),
  wait: readInterrupt,
  resume: (span) => commandIn(span, 'gen_ai.prompt'),
  labels: {
    environment: ['langsmith.metadata.environment'],
    release: ['langsmith.metadata.revision_id', 'langsmith.metadata.release'],
    tags: ['langsmith.span.tags'],
  },
};
