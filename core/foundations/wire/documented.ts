import * as z from 'zod/mini';

/** What the OpenAPI document says of a schema when the schema cannot: its checks are functions. */
export interface Documentation {
  /** The name of its component; a schema without one stands wherever it is used. */
  readonly name?: string;
  /** Keywords of JSON Schema 2020-12 for what its checks look for, as far as there are any. */
  readonly says?: Readonly<Record<string, unknown>>;
  /** Gives the schema to show instead, for one that looks at the body before it parses it. */
  readonly like?: () => unknown;
}

/** What the document says of schemas. Parsing never looks at it. */
export const documented = z.registry<Documentation>();

const part = '[A-Za-z0-9_.-]{1,128}';

/** A project's id as a part of a longer pattern in JSON Schema. */
export const projectIdPattern = `(?!\\.{1,2}/)${part}/(?!\\.{1,2}(?:/|$))${part}`;

/**
 * Control characters in a pattern's character class, as regular expressions of all languages spell
 * them.
 */
export const controls = '\\u0000-\\u001f\\u007f-\\u009f';

/** An id of 1 to so many characters in JSON Schema. */
export const printableText = (maxCharacters: number) => ({
  minLength: 1,
  maxLength: maxCharacters,
  pattern: `^[^${controls}\\u2028\\u2029]*$`,
});

/** Documents the most items of a list; the list's own check enforces it. */
export const documentedList = <S extends z.ZodMiniType>(list: S, most: number): S => {
  documented.add(list, { says: { maxItems: most } });
  return list;
};
