import { isNumber, nonEmptyString, plainNumber } from '../../../../foundations/wire/index.ts';
import type { Span } from '../span.ts';
import { first, parsed, plain, structured, toCount, unflatten } from '../values.ts';

/** What was read of a span on the way to a result. */
export interface Marks {
  readonly keys: Set<string>;
  readonly events: Set<number>;
}

/** An event of the span, its attributes as JSON. */
export interface ReadEvent {
  readonly index: number;
  readonly name: string;
  readonly attributes: Readonly<Record<string, unknown>>;
}

const noMarks = (): Marks => ({ keys: new Set(), events: new Set() });

/** Logfire replaces what looks like a secret, session ids among it. */
const scrubbed = /^\[Scrubbed due to /;

/** Tokens as a convention counts them, with the model that it names. */
export interface Counts {
  /** The model that answered, or was asked. */
  readonly model: string | undefined;
  readonly input?: number | undefined;
  readonly output?: number | undefined;
  readonly total?: number | undefined;
  /** Tokens of the prompt that were read from a cache. */
  readonly cacheRead?: number | undefined;
  /** Tokens of the prompt that were written to a cache. */
  readonly cacheWrite?: number | undefined;
  readonly reasoning?: number | undefined;
}

/** The keys of the attributes that hold each count, and the model, the best first. */
export type CountKeys = { readonly model: readonly string[] } & {
  readonly [name in Exclude<keyof Counts, 'model'>]?: readonly string[];
};

/** Reads attributes and events of one span, and notes which of them were used. */
export class SpanReader {
  readonly span: Span;
  /** The keys' first segments, before a dot or a colon: what `matches` looks for. */
  readonly namespaces: ReadonlySet<string>;
  #marks: Marks = noMarks();

  constructor(span: Span) {
    this.span = span;
    this.namespaces = new Set(
      Array.from(span.attributes.keys(), (key) => {
        const end = key.search(/[.:]/);
        return end === -1 ? key : key.slice(0, end);
      }),
    );
  }

  /** Runs a reading and gives back what it used with its result. */
  note<T>(reading: () => T): { readonly result: T; readonly marks: Marks } {
    const outer = this.#marks;
    this.#marks = noMarks();
    try {
      const result = reading();
      return { result, marks: this.#marks };
    } finally {
      this.#marks = outer;
    }
  }

  has(key: string): boolean {
    return this.span.attributes.has(key);
  }

  /** An attribute as JSON, without using it; undefined when it is missing. */
  peek(key: string): unknown {
    const value = this.span.attributes.get(key);
    return value === undefined ? undefined : plain(value);
  }

  /** The first of the attributes that can be read, with its key. */
  #first<T>(
    keys: readonly string[],
    read: (value: unknown) => T | undefined,
  ): readonly [string, T] | undefined {
    for (const key of keys) {
      const found = read(this.peek(key));
      if (found !== undefined) return [key, found];
    }
    return undefined;
  }

  /** The first of the attributes that can be read, which is used. */
  #use<T>(keys: readonly string[], read: (value: unknown) => T | undefined): T | undefined {
    const [key, found] = this.#first(keys, read) ?? [];
    if (key !== undefined) this.#marks.keys.add(key);
    return found;
  }

  /** The first of the attributes that is a text with something in it, without using it. */
  peekText(...keys: readonly string[]): string | undefined {
    return this.#first(keys, nonEmptyString)?.[1];
  }

  /** The first of the attributes that has a value other than null and ''. */
  value(...keys: readonly string[]): unknown {
    return this.#use(keys, (value) => (value === null || value === '' ? undefined : value));
  }

  /** The same, with any JSON text parsed: for conventions that write every value as JSON. */
  parsed(...keys: readonly string[]): unknown {
    return parsed(this.value(...keys));
  }

  /** The same, with lists and objects that are JSON text parsed. */
  json(...keys: readonly string[]): unknown {
    return structured(this.value(...keys));
  }

  /** The first of the attributes that is a text with something in it. */
  text(...keys: readonly string[]): string | undefined {
    return this.#use(keys, nonEmptyString);
  }

  /** The first of the names that is a text in an attribute's JSON object, without using it. */
  textIn(key: string, ...names: readonly string[]): string | undefined {
    return nonEmptyString(first(structured(this.peek(key)), ...names));
  }

  /** The first of the attributes that is a count, as a number or as text. */
  count(...keys: readonly string[]): number | undefined {
    return this.#use(keys, toCount);
  }

  /** Token counts by the keys of each. The model is only looked at. */
  counts({ model, ...keys }: CountKeys): Counts {
    const found = Object.entries(keys).map(([name, all]) => [name, this.count(...all)] as const);
    return { model: this.peekText(...model), ...Object.fromEntries(found) };
  }

  /** The first of the attributes that can be an id. It stays among the attributes. */
  id(...keys: readonly string[]): string | undefined {
    const toId = (value: unknown) => (isNumber(value) ? String(plainNumber(value)) : nonEmptyString(value));
    return this.#first(keys, (value) => {
      const text = toId(value);
      return text !== undefined && scrubbed.test(text) ? undefined : text;
    })?.[1];
  }

  /** The attributes below a prefix, by the rest of their key. */
  below(prefix: string): ReadonlyMap<string, unknown> {
    const found = new Map<string, unknown>();
    for (const key of this.span.attributes.keys()) {
      if (!key.startsWith(prefix)) continue;
      this.#marks.keys.add(key);
      found.set(key.slice(prefix.length), this.peek(key));
    }
    return found;
  }

  /**
   * The list that is spread over attributes with an index after the prefix
   * (`gen_ai.prompt.0.role`), in order of its indices. Missing ones are left out.
   */
  list(prefix: string): readonly unknown[] | undefined {
    const entries = new Map<string, unknown>();
    const start = `${prefix}.`;
    for (const key of this.span.attributes.keys()) {
      if (!key.startsWith(start)) continue;
      const rest = key.slice(start.length);
      if (!/^\d+(\.|$)/.test(rest)) continue;
      this.#marks.keys.add(key);
      entries.set(rest, this.peek(key));
    }
    const list = unflatten(entries);
    return Array.isArray(list) ? list : undefined;
  }

  /** The span's events with one of the names, without using them. */
  events(isNamed: (name: string) => boolean): readonly ReadEvent[] {
    return this.span.events.flatMap(({ name, attributes }, index) =>
      isNamed(name)
        ? [
            {
              index,
              name,
              attributes: Object.fromEntries(Array.from(attributes, ([key, value]) => [key, plain(value)])),
            },
          ]
        : [],
    );
  }

  /** Notes that an event was used. */
  used({ index }: ReadEvent): void {
    this.#marks.events.add(index);
  }
}
