import type * as z from 'zod/mini';
import { getRecipe } from '../../../foundations/wire/schema.ts';

/*
 * What somebody probably meant.
 */

/** How many characters have to be inserted, deleted or replaced to make one text of another. */
const distance = (a: string, b: string): number => {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (const [i, letter] of [...a].entries()) {
    const next = [i + 1];
    for (const [j, other] of [...b].entries())
      next.push(
        Math.min((row[j] ?? 0) + (letter === other ? 0 : 1), (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1),
      );
    row = next;
  }
  return row.at(-1) ?? 0;
};

const maxCompared = 200;

/** A name without what is written in several ways: `mcp__orders__refund` is `orders.refund`. */
const bare = (name: string): string =>
  name
    .slice(0, maxCompared)
    .toLowerCase()
    .replace(/^mcp__/, '')
    .replace(/[^\p{L}\p{N}]+/gu, '');

/** The known name that is most like another; undefined if none is. */
const closest = (name: string, known: readonly string[]): string | undefined => {
  const sought = bare(name);
  const near = known
    .map((candidate) => ({ candidate, by: distance(sought, bare(candidate)) }))
    // Short names are much alike, unless they begin alike.
    .filter(({ candidate, by }) => {
      const least = bare(candidate).startsWith(sought.slice(0, 2)) ? 2 : 1;
      return by <= Math.max(least, sought.length / 3);
    })
    .sort((a, b) => a.by - b.by);
  return (
    near[0]?.candidate ??
    known.find((name) => bare(name).includes(sought) && sought.length > 2) ??
    known.find((name) => sought.includes(bare(name)) && bare(name).length > 3)
  );
};

/** What breaks a line, or the ticks around a name. */
const breaking = /[`\p{Cc}\p{Zl}\p{Zp}]/u;

/** How much of a name is shown. */
const maxShown = 200;

/** A recorded name in words of ours, so that no part of it passes for them. */
export const quoted = (name: string): string => {
  const shown = name.length > maxShown ? `${name.slice(0, maxShown).toWellFormed()}…` : name;
  return breaking.test(shown) ? toLine(JSON.stringify(shown)) : `\`${shown}\``;
};

const toLine = (text: string): string => text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ');

/** A recorded text as a word of a line that has several: quoted, unless it is one. */
export const toWord = (text: string): string =>
  /^[\p{L}\p{N}_.:/@#+-]+$/u.test(text) ? text : JSON.stringify(toLine(text));

/** `; did you mean …?`, or nothing. */
export const didYouMean = (name: string, known: readonly string[]): string => {
  const suggestion = name === '' ? undefined : closest(name, known);
  return suggestion === undefined ? '' : `; did you mean ${quoted(suggestion)}?`;
};

/** The names of the fields of a schema's object at a place; none if it has none there. */
export const fieldsAt = (schema: z.core.$ZodType, place: readonly string[]): readonly string[] => {
  const { def, parent } = schema._zod;
  const recipe = getRecipe(schema);
  const [step, ...below] = place;
  if (recipe) {
    if (step === undefined) return Object.keys(recipe.shape);
    const field = recipe.shape[step];
    return field ? fieldsAt(field, below) : [];
  }
  if (parent && parent._zod.def === def) return fieldsAt(parent, place);
  switch (def.type) {
    case 'pipe':
      return fieldsAt((def as z.core.$ZodPipeDef).in, place);
    case 'optional':
    case 'nullable':
      return fieldsAt((def as z.core.$ZodOptionalDef).innerType, place);
    case 'array':
      return fieldsAt((def as z.core.$ZodArrayDef).element, below);
    case 'object': {
      const { shape } = def as z.core.$ZodObjectDef;
      if (step === undefined) return Object.keys(shape);
      const field = shape[step];
      return field ? fieldsAt(field, below) : [];
    }
    default:
      return [];
  }
};
