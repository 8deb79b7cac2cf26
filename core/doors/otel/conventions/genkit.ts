import { nonEmptyString } from '../../../../foundations/wire/index.ts';
import { answerMessages, chatInputs } from '../messages/chat.ts';
import { asInputs, first, get, parsed } from '../values.ts';
import { asMessages, asNamed, type Convention, field, kindNamed } from './convention.ts';
import type { SpanReader } from './reader.ts';
import { parseCounts } from './usage.ts';

/** The model is only the name of the action. */
const model = (span: SpanReader): string => span.text('genkit:name') ?? span.span.name;

/**
 * Genkit. Tokens and the model that answered are only in the JSON of the output.
 * Source: firebase/genkit, `js/core/src/tracing`.
 */
export const genkit: Convention = {
  matches: ({ namespaces }) => namespaces.has('genkit'),
  kind: (span) => kindNamed(span.peekText('genkit:metadata:subtype')) ?? 'other',
  inputs: (span, kind) => {
    if (kind === 'model')
      return [() => chatInputs(span.parsed('genkit:input')), () => field('model', model(span))];
    const whole = () => asInputs(span.parsed('genkit:input'));
    return kind === 'embedding' ? [whole, () => field('model', model(span))] : [whole];
  },
  output: (span, kind) => {
    const output = span.parsed('genkit:output');
    return kind === 'model' ? asMessages(answerMessages(output)) : output;
  },
  usage: (span) => {
    const output = parsed(span.peek('genkit:output'));
    const answered = nonEmptyString(first(get(output, 'raw'), 'model', 'modelVersion'));
    const name = answered ?? span.peekText('genkit:name') ?? span.span.name;
    return parseCounts(first(output, 'usage'), name);
  },
  tool: (span) => span.peekText('genkit:name'),
  agent: (span, kind) => (kind === 'agent' ? asNamed(span.peekText('genkit:name')) : undefined),
  thread: ['genkit:sessionId', 'genkit:metadata:sessionId', 'genkit:metadata:session'],
};
