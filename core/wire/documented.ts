import * as z from 'zod/mini';

/**
 * What the OpenAPI document says of a schema, where the schema itself does not: its own checks are
 * functions.
 */
export interface Documentation {
  /** The name of the component that it becomes; without one it stands where it is used. */
  readonly name?: string;
  /** Keywords of JSON Schema 2020-12 for what its checks look for, as far as there are any. */
  readonly says?: Readonly<Record<string, unknown>>;
  /**
   * Gives the schema that is shown in its place, for one that decides by the body how to parse it.
   */
  readonly like?: () => unknown;
}

/** What the document says of schemas. Parsing never looks at it. */
export const documented = z.registry<Documentation>();

const part = '[A-Za-z0-9_.-]{1,128}';

/** What JSON Schema says of a project's id within a longer pattern. */
export const projectIdPattern = `(?!\\.{1,2}/)${part}/(?!\\.{1,2}(?:/|$))${part}`;

/**
 * Control characters, as a pattern's character class has them: in the spelling that regular
 * expressions of all languages know.
 */
export const controls = '\\u0000-\\u001f\\u007f-\\u009f';

/** What JSON Schema says of an id of a length. */
export const printableText = (maxCharacters: number) => ({
  minLength: 1,
  maxLength: maxCharacters,
  pattern: `^[^${controls}\\u2028\\u2029]*$`,
});

/** Says of a list how many items it has at the most, which its own check looks for. */
export const documentedList = <S extends z.ZodMiniType>(list: S, most: number): S => {
  documented.add(list, { says: { maxItems: most } });
  return list;
};
