import {
  asString,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from '../../../../foundations/wire/index.ts';
import {
  type Answer,
  type AnswerEvent,
  type AnswerPart,
  count,
  type Ending,
  type EventReader,
  type StopReason,
  toObject,
  toObjects,
  type Usage,
} from './answer.ts';
import { readError } from './errors.ts';

/*
 * Answers of Bedrock's Converse API, by the types of @aws-sdk/client-bedrock-runtime 3.1164.0: bytes are
 * base64, and events come as frames.
 */

const reasons: ReadonlyMap<string, StopReason> = new Map(
  Object.entries({
    end_turn: 'end_turn',
    max_tokens: 'max_tokens',
    stop_sequence: 'stop_sequence',
    tool_use: 'tool_use',
    content_filtered: 'refusal',
    guardrail_intervened: 'refusal',
    model_context_window_exceeded: 'model_context_window_exceeded',
  }),
);

/** What the client is told of an end that no other API has a name for. */
const explanations: ReadonlyMap<string, string> = new Map(
  Object.entries({
    content_filtered: 'the answer was filtered by Amazon Bedrock',
    guardrail_intervened: 'a guardrail of Amazon Bedrock intervened',
  }),
);

/** Ends that are failures of the model: what it said cannot be used. */
const malformed: ReadonlyMap<string, string> = new Map(
  Object.entries({
    malformed_model_output: 'the model gave output that cannot be read',
    malformed_tool_use: 'the model called a tool in a way that cannot be read',
  }),
);

const readEnding = (reason: string, fields: JsonValue | undefined): Ending => {
  const additional = toObject(fields);
  const sequence = asString(additional.stop_sequence) ?? asString(toObject(additional.delta).stop_sequence);
  return { reason: reasons.get(reason) ?? 'end_turn', sequence, explanation: explanations.get(reason) };
};

/** Converse counts what is cached beside the input. */
const readUsage = (usage: JsonValue | undefined): Usage | undefined => {
  if (!isJsonObject(usage)) return undefined;
  const cacheRead = count(usage.cacheReadInputTokens);
  const cacheWrite = count(usage.cacheWriteInputTokens);
  return {
    input: count(usage.inputTokens) + cacheRead + cacheWrite,
    cacheRead,
    cacheWrite,
    output: count(usage.outputTokens),
    reasoning: 0,
  };
};

const readBlock = (block: JsonObject): AnswerPart[] => {
  const { text, toolUse, reasoningContent, citationsContent } = block;
  if (typeof text === 'string') return [{ kind: 'text', text }];
  if (toolUse) {
    const { toolUseId, name, input = {} } = toObject(toolUse);
    return [{ kind: 'call', id: asString(toolUseId) ?? '', name: asString(name) ?? '', input }];
  }
  if (reasoningContent) {
    const { reasoningText, redactedContent } = toObject(reasoningContent);
    const data = asString(redactedContent);
    if (data !== undefined) return [{ kind: 'redacted', data }];
    const reasoning = toObject(reasoningText);
    return [
      {
        kind: 'thinking',
        text: asString(reasoning.text) ?? '',
        signature: asString(reasoning.signature) ?? '',
      },
    ];
  }
  // A cited text is a text; what it cites has no place in the answers of other APIs.
  return toObjects(toObject(citationsContent).content).flatMap(readBlock);
};

/** Why an answer with a 200 is a failure; undefined if it is none. */
export const findFailure = (reason: JsonValue | undefined): string | undefined =>
  malformed.get(asString(reason) ?? '');

/** Reads a whole answer of Converse. It has neither an id nor a model. */
export const readConverse = (answer: JsonObject): Answer => ({
  parts: toObjects(toObject(toObject(answer.output).message).content).flatMap(readBlock),
  ending: readEnding(asString(answer.stopReason) ?? '', answer.additionalModelResponseFields),
  usage: readUsage(answer.usage),
});

/** A piece of a block: what block it is of, and which piece. */
const readDelta = (
  delta: JsonObject,
):
  | {
      readonly part: AnswerPart;
      readonly kind?: 'text' | 'thinking' | 'signature' | 'input';
      readonly piece: string;
    }
  | undefined => {
  const { text, toolUse, reasoningContent } = delta;
  if (typeof text === 'string') return { part: { kind: 'text', text: '' }, kind: 'text', piece: text };
  if (toolUse) {
    const part = { kind: 'call' as const, id: '', name: '', input: {} };
    return { part, kind: 'input', piece: asString(toObject(toolUse).input) ?? '' };
  }
  if (!reasoningContent) return undefined;
  const { text: thought, signature, redactedContent } = toObject(reasoningContent);
  const data = asString(redactedContent);
  if (data !== undefined) return { part: { kind: 'redacted', data }, piece: '' };
  const part = { kind: 'thinking' as const, text: '', signature: '' };
  return typeof signature === 'string'
    ? { part, kind: 'signature', piece: signature }
    : { part, kind: 'thinking', piece: asString(thought) ?? '' };
};

/** Reads a streamed answer of Converse. Blocks of text and reasoning begin with their first piece. */
export class ConverseReader implements EventReader {
  readonly #open = new Set<number>();
  hasEnded = false;

  read(name: string | undefined, data: JsonObject): readonly AnswerEvent[] {
    const index = count(data.contentBlockIndex);
    switch (name) {
      case 'messageStart':
        return [{ kind: 'start' }];
      case 'contentBlockStart': {
        const [part] = readBlock(toObject(data.start));
        return part ? this.#begin(index, part) : [];
      }
      case 'contentBlockDelta':
        return this.#delta(index, toObject(data.delta));
      case 'contentBlockStop':
        return this.#open.delete(index) ? [{ kind: 'close', index }] : [];
      case 'messageStop': {
        const failure = findFailure(data.stopReason);
        const reason = asString(data.stopReason) ?? '';
        if (failure !== undefined)
          return [{ kind: 'error', error: { status: 502, message: failure, code: reason } }];
        this.hasEnded = true;
        return [{ kind: 'ending', ending: readEnding(reason, data.additionalModelResponseFields) }];
      }
      case 'metadata':
        return this.#metadata(readUsage(data.usage));
      default:
        return /(exception|error)$/i.test(name ?? '') || 'message' in data
          ? [{ kind: 'error', error: readError(data, undefined, name) }]
          : [];
    }
  }

  end(): readonly AnswerEvent[] {
    return [{ kind: 'finish' }];
  }

  /** The last event of an answer. */
  #metadata(usage: Usage | undefined): readonly AnswerEvent[] {
    const counted = usage ? [{ kind: 'usage' as const, usage }] : [];
    return this.hasEnded ? [...counted, ...this.end()] : counted;
  }

  #begin(index: number, part: AnswerPart): readonly AnswerEvent[] {
    if (this.#open.has(index)) return [];
    this.#open.add(index);
    return [{ kind: 'open', index, part }];
  }

  #delta(index: number, delta: JsonObject): readonly AnswerEvent[] {
    const read = readDelta(delta);
    if (!read) return [];
    const { part, kind, piece } = read;
    const opened = this.#begin(index, part);
    return kind === undefined ? opened : [...opened, { kind, index, piece }];
  }
}
