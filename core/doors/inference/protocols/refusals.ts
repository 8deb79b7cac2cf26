import {
  type ErrorDetail,
  type ExactNumber,
  invalid,
  isJsonObject,
  isNumber,
  type JsonObject,
  type JsonValue,
} from '../../../../foundations/wire/index.ts';
import type { Api } from './translation.ts';

/** Where something is in a request, as errors name it. */
export type Place = readonly string[];

/** Something that a client said, and where. */
export interface Said<T> {
  readonly at: Place;
  readonly value: T;
}

/** Whether a value is a list that says nothing. */
export const isEmptyList = (value: JsonValue): boolean => Array.isArray(value) && value.length === 0;

const apiNames: Readonly<Record<Api, string>> = {
  chat: "OpenAI's Chat Completions API",
  messages: "Anthropic's Messages API",
  converse: "Bedrock's Converse API",
};

/** The most problems that one error lists. */
const maxProblems = 20;

/** Collects what a request has that cannot be said in the API of its upstream. */
export class Refusals {
  readonly #api: string;
  readonly #problems: ErrorDetail[] = [];
  readonly #places = new Set<string>();

  /** @param to the API that the upstream speaks */
  constructor(to: Api) {
    this.#api = apiNames[to];
  }

  /**
   * Notes what cannot be said.
   *
   * @param advice what to do instead, or why
   */
  refuse(loc: Place, advice?: string): void {
    const reason = advice === undefined ? '' : `: ${advice}`;
    this.#add(
      loc,
      `cannot be said in ${this.#api}, which this model's upstream speaks${reason}`,
      'untranslatable',
    );
  }

  /** Notes what is wrong in any API. */
  invalid(loc: Place, msg: string): void {
    this.#add(loc, msg, 'value_error');
  }

  /** @throws ServiceError 422 if anything was noted */
  check(): void {
    if (this.#problems.length > 0) throw invalid(...this.#problems);
  }

  #add(loc: Place, msg: string, type: string): void {
    const place = JSON.stringify(loc);
    // What was wrong there first is why the rest is.
    if (this.#places.has(place) || this.#problems.length >= maxProblems) return;
    this.#places.add(place);
    this.#problems.push({ loc, msg, type });
  }
}

/**
 * Reads an object of a request field by field. What nobody has read or ignored by the end is refused
 * by its name. A null is as good as nothing.
 */
export class Fields {
  readonly place: Place;
  readonly refusals: Refusals;
  readonly #object: JsonObject;
  readonly #read = new Set<string>();

  constructor(object: JsonObject, place: Place, refusals: Refusals) {
    this.#object = object;
    this.place = place;
    this.refusals = refusals;
  }

  /** The place of a field. */
  at(name: string): Place {
    return [...this.place, name];
  }

  /** A field's value; undefined if it is missing or null. */
  get(name: string): Exclude<JsonValue, null> | undefined {
    this.#read.add(name);
    return Object.hasOwn(this.#object, name) ? (this.#object[name] ?? undefined) : undefined;
  }

  text(name: string): string | undefined {
    return this.#typed(name, 'a string', (value) => typeof value === 'string');
  }

  flag(name: string): boolean | undefined {
    return this.#typed(name, 'true or false', (value) => typeof value === 'boolean');
  }

  /** What a field says, with its place; undefined if it says nothing. */
  said<T>(name: string, value: T | undefined): Said<T> | undefined {
    return value === undefined ? undefined : { at: this.at(name), value };
  }

  number(name: string): number | ExactNumber | undefined {
    return this.#typed(name, 'a number', isNumber);
  }

  list(name: string): JsonValue[] | undefined {
    return this.#typed(name, 'a list', Array.isArray);
  }

  /** A field that is an object, to be read in turn. */
  object(name: string): Fields | undefined {
    const value = this.json(name);
    return value && new Fields(value, this.at(name), this.refusals);
  }

  /** A field that is any object, as it is. */
  json(name: string): JsonObject | undefined {
    return this.#typed(name, 'an object', isJsonObject);
  }

  /** A text that the request must have. */
  required(name: string): string {
    const value = this.text(name);
    if (value === undefined && this.get(name) === undefined)
      this.refusals.invalid(this.at(name), 'is required');
    return value ?? '';
  }

  /** An object that the request must have, to be read in turn. */
  requiredObject(name: string): Fields | undefined {
    if (this.get(name) === undefined) this.refusals.invalid(this.at(name), 'is required');
    return this.object(name);
  }

  /** The objects of a list, each to be read in turn. */
  objects(name: string): Fields[] {
    return (this.list(name) ?? []).flatMap((item, index) => {
      const place = [...this.at(name), String(index)];
      if (isJsonObject(item)) return [new Fields(item, place, this.refusals)];
      this.refusals.invalid(place, 'should be an object');
      return [];
    });
  }

  /** Leaves out fields that say nothing to the answer. */
  ignore(...names: readonly string[]): void {
    for (const name of names) this.#read.add(name);
  }

  /** Leaves out a field that says what holds anyway, and refuses anything else in it. */
  expect(name: string, isUsual: (value: JsonValue) => boolean, advice?: string): void {
    const value = this.get(name);
    if (value !== undefined && !isUsual(value)) this.refusals.refuse(this.at(name), advice);
  }

  refuse(name: string, advice?: string): void {
    this.refusals.refuse(this.at(name), advice);
  }

  /** Refuses all fields that nobody has read. */
  end(): void {
    for (const [name, value] of Object.entries(this.#object))
      if (value !== null && !this.#read.has(name)) this.refuse(name);
  }

  #typed<T extends JsonValue>(
    name: string,
    expected: string,
    isOne: (value: JsonValue) => value is T,
  ): T | undefined {
    const value = this.get(name);
    if (value === undefined || isOne(value)) return value;
    this.refusals.invalid(this.at(name), `should be ${expected}`);
    return undefined;
  }
}
