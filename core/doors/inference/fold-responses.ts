import { isJsonObject, type JsonObject } from '../../foundations/wire/index.ts';
import type { CharacterAllowance } from './allowance.ts';
import type { Fold } from './fold.ts';

const maxItems = 1024;

/**
 * Assembles a streamed answer of the Responses API. Its last event carries the complete response.
 * If that never came, the answer has the completed items and the text of the unfinished one.
 */
export class ResponsesFold implements Fold {
  readonly #allowance: CharacterAllowance;
  readonly #items = new Map<number, JsonObject>();
  readonly #texts = new Map<number, string>();
  #response: JsonObject | null = null;
  #complete = false;

  constructor(allowance: CharacterAllowance) {
    this.#allowance = allowance;
  }

  add(data: JsonObject): void {
    const { type, response, item, delta, output_index: index } = data;
    if (isJsonObject(response)) {
      this.#complete =
        type === 'response.completed' || type === 'response.incomplete' || type === 'response.failed';
      this.#response = this.#allowance.take(JSON.stringify(response).length)
        ? response
        : withoutOutput(response);
    }
    if (typeof index !== 'number' || this.#items.size + this.#texts.size >= maxItems) return;
    if (type === 'response.output_item.done' && isJsonObject(item)) {
      this.#texts.delete(index);
      if (this.#allowance.take(JSON.stringify(item).length)) this.#items.set(index, item);
    }
    if (
      type === 'response.output_text.delta' &&
      typeof delta === 'string' &&
      this.#allowance.take(delta.length)
    )
      this.#texts.set(index, (this.#texts.get(index) ?? '') + delta);
  }

  answer(): JsonObject | null {
    if (this.#complete || this.#response === null) return this.#response;
    const unfinished = [...this.#texts].map(([index, text]): [number, JsonObject] => [
      index,
      unfinishedMessage(text),
    ]);
    const output = [...this.#items, ...unfinished].toSorted(([a], [b]) => a - b).map(([, item]) => item);
    return { ...this.#response, output };
  }
}

/** What is recorded of a response that is too long: its usage, status and model. */
const withoutOutput = ({ id, object, model, status, usage }: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries({ id, object, model, status, usage }).filter(([, value]) => value !== undefined),
  ) as JsonObject;

const unfinishedMessage = (text: string): JsonObject => ({
  type: 'message',
  role: 'assistant',
  status: 'in_progress',
  content: [{ type: 'output_text', text }],
});
