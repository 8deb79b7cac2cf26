import { type Convention, field, isRequest, type Kind } from './convention.ts';
import type { SpanReader } from './reader.ts';

/** litellm names the function of its own that was called, such as `acompletion`. */
const getKind = (span: SpanReader): Kind | undefined => {
  const operation = span.peekText('gen_ai.operation.name', 'llm.request.type');
  if (operation === undefined) return undefined;
  if (/embedding/.test(operation)) return 'embedding';
  if (/completion|responses|messages|chat/.test(operation)) return 'model';
  return /rerank/.test(operation) ? 'retriever' : undefined;
};

/** Where the metadata of the request that litellm got is. */
const requester = 'metadata.requester_metadata';

/**
 * litellm's own callback. The span of the raw request beside it repeats the same call.
 * Source: BerriAI/litellm, `litellm/integrations/opentelemetry.py`.
 */
export const litellm: Convention = {
  matches: ({ namespaces, span }) => namespaces.has('litellm') || span.scope.name === 'litellm',
  kind: (span) => (span.span.name === 'raw_gen_ai_request' ? 'other' : getKind(span)),
  inputs: (span, kind) =>
    isRequest(kind) ? [() => field('model', span.text('litellm.provider.model'))] : [],
  thread: (span) => span.id('litellm.session_id') ?? span.textIn(requester, 'session_id', 'thread_id'),
  user: (span) => span.id('metadata.user_api_key_end_user_id') ?? span.textIn(requester, 'user_id'),
};
