/*
 * What Python's `repr` writes of dataclasses, lists, dicts and constants. Haystack's messages come
 * so through OpenInference: `ChatMessage(_role=<ChatRole.USER: 'user'>, _content=[TextContent(text='hi')])`.
 */

/** The field that names the class of an object that was written as a call. */
export const className = '__class__';

const maxLevels = 64;

const escapes: Readonly<Record<string, string>> = {
  n: '\n',
  r: '\r',
  t: '\t',
  "'": "'",
  '"': '"',
  '\\': '\\',
};

const unescaped = (text: string): string =>
  text.replace(
    /\\(?:x([0-9a-f]{2})|u([0-9a-f]{4})|U([0-9a-f]{8})|(.))/gs,
    (whole, byte?: string, short?: string, long?: string, one = '') => {
      const code = Number.parseInt(byte ?? short ?? long ?? '', 16);
      if (Number.isNaN(code)) return escapes[one] ?? whole;
      return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
    },
  );

/** A text up to its quote or the next escape. One pattern of both would overflow V8's stack at 20 MB. */
const plain = { "'": /[^'\\]*/y, '"': /[^"\\]*/y } as const;
const number = /-?\d+(?:\.\d+)?(?:e[-+]?\d+)?/iy;
const name = /[A-Za-z_][\w.]*/y;
const space = /\s*/y;
const constants: Readonly<Record<string, unknown>> = { None: null, True: true, False: false };

/** Thrown where the text is not of this form. */
class NoRepr extends Error {}

class Reader {
  readonly #source: string;
  #at = 0;

  constructor(source: string) {
    this.#source = source;
  }

  /** The whole text as one value. */
  whole(): unknown {
    const value = this.#value(0);
    this.#match(space);
    if (this.#at < this.#source.length) throw new NoRepr();
    return value;
  }

  #match(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#source) ?? undefined;
    if (found) this.#at = pattern.lastIndex;
    return found;
  }

  /** Whether this character comes next; then it is passed. */
  #takes(character: string): boolean {
    this.#match(space);
    if (this.#source[this.#at] !== character) return false;
    this.#at += 1;
    return true;
  }

  #needs(character: string): void {
    if (!this.#takes(character)) throw new NoRepr();
  }

  /** Items up to a closing bracket, with commas between them. */
  #items<T>(close: string, item: () => T): T[] {
    const items: T[] = [];
    while (!this.#takes(close)) {
      if (items.length > 0) {
        this.#needs(',');
        if (this.#takes(close)) break;
      }
      items.push(item());
    }
    return items;
  }

  /** The rest of a text behind its opening quote. */
  #text(quote: keyof typeof plain): string {
    const from = this.#at;
    for (;;) {
      this.#match(plain[quote]);
      const next = this.#source[this.#at];
      if (next === undefined) throw new NoRepr();
      this.#at += next === quote ? 1 : 2;
      if (next === quote) return unescaped(this.#source.slice(from, this.#at - 1));
    }
  }

  #value(level: number): unknown {
    if (level > maxLevels) throw new NoRepr();
    const inner = () => this.#value(level + 1);
    if (this.#takes('[')) return this.#items(']', inner);
    if (this.#takes('(')) return this.#items(')', inner);
    if (this.#takes('{'))
      return Object.fromEntries(
        this.#items('}', () => {
          const key = String(inner());
          this.#needs(':');
          return [key, inner()] as const;
        }),
      );
    // An enumeration: `<ChatRole.USER: 'user'>`.
    if (this.#takes('<')) {
      this.#match(name);
      this.#needs(':');
      const value = inner();
      this.#needs('>');
      return value;
    }
    for (const quote of ["'", '"'] as const) if (this.#takes(quote)) return this.#text(quote);
    const digits = this.#match(number);
    if (digits) return Number(digits[0]);
    const [word] = this.#match(name) ?? [];
    if (word === undefined) throw new NoRepr();
    if (Object.hasOwn(constants, word)) return constants[word];
    this.#needs('(');
    const fields = this.#items(')', () => {
      const [field] = this.#match(/\s*[A-Za-z_]\w*/y) ?? [];
      if (field === undefined) throw new NoRepr();
      this.#needs('=');
      return [field.trim(), inner()] as const;
    });
    return { [className]: word, ...Object.fromEntries(fields) };
  }
}

/** The value that a `repr` shows; undefined if the text is none. */
export const fromRepr = (source: string): unknown => {
  try {
    return new Reader(source).whole();
  } catch (error) {
    if (error instanceof NoRepr) return undefined;
    throw error;
  }
};
