import { isJsonObject, type JsonObject, type JsonValue } from '../../foundations/wire/index.ts';
import { CharacterAllowance } from './allowance.ts';
import type { Fold } from './fold.ts';
import { mergeDelta, setIfAllowed } from './merge.ts';

const maxChoices = 128;
/**
 * A separate allowance for the fields beside the choices. The usage comes last, when a long answer
 * may have taken the rest.
 */
const headCharacters = 64 * 1024;

/** Drops the index of a streamed item, which means nothing in the complete list. */
const withoutIndex = (item: JsonValue): JsonValue => {
  if (!isJsonObject(item)) return item;
  const { index: _index, ...rest } = item;
  return rest;
};

const byIndex = (a: JsonObject, b: JsonObject): number => Number(a.index) - Number(b.index);

const finished = ({ message, ...choice }: JsonObject): JsonObject => {
  if (!isJsonObject(message)) return choice;
  const calls = message.tool_calls;
  const completed = Array.isArray(calls) ? { ...message, tool_calls: calls.map(withoutIndex) } : message;
  return { index: choice.index ?? 0, message: completed, ...choice };
};

/**
 * Assembles a streamed chat completion or text completion. Choices are merged by index; the last
 * value of every other field counts.
 */
export class ChoicesFold implements Fold {
  readonly #allowance: CharacterAllowance;
  readonly #headBudget = new CharacterAllowance(headCharacters);
  readonly #head: JsonObject = {};
  readonly #choices = new Map<number, JsonObject>();
  #begun = false;

  constructor(allowance: CharacterAllowance) {
    this.#allowance = allowance;
  }

  add(data: JsonObject): void {
    this.#begun = true;
    const { choices, obfuscation: _padding, ...head } = data;
    for (const [key, value] of Object.entries(head)) {
      if (value !== null || !Object.hasOwn(this.#head, key))
        setIfAllowed(this.#head, key, value, this.#headBudget);
    }
    if (this.#headBudget.exceeded) this.#allowance.exceed();
    if (!Array.isArray(choices)) return;
    for (const choice of choices) if (isJsonObject(choice)) this.#addChoice(choice);
  }

  answer(): JsonObject | null {
    if (!this.#begun) return null;
    const choices = [...this.#choices.values()].toSorted(byIndex).map(finished);
    const { object } = this.#head;
    return {
      ...this.#head,
      ...(object === 'chat.completion.chunk' && { object: 'chat.completion' }),
      choices,
    };
  }

  #addChoice({ index = 0, delta, ...rest }: JsonObject): void {
    if (typeof index !== 'number') return;
    const choice = this.#choices.get(index) ?? { index };
    if (!this.#choices.has(index)) {
      if (this.#choices.size >= maxChoices) {
        this.#allowance.exceed();
        return;
      }
      this.#choices.set(index, choice);
    }
    mergeDelta(choice, { ...(isJsonObject(delta) && { message: delta }), ...rest }, this.#allowance);
  }
}
