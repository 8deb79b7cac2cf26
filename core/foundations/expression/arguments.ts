import { type ErrorDetail, isJsonObject } from '../wire/index.ts';

/** What is wrong with an expression, and where, from its root. */
export class Problem extends Error {
  readonly detail: ErrorDetail;

  constructor(loc: readonly string[], msg: string, type: string) {
    super(msg);
    this.detail = { loc, msg, type };
  }
}

/** Where something stands, from the root of its expression. */
export type Loc = readonly string[];

const isList = (json: unknown): json is unknown[] => Array.isArray(json);

/** @throws Problem if it is no list */
export const list = (json: unknown, loc: Loc): unknown[] => {
  if (isList(json)) return json;
  throw new Problem(loc, 'should be a list of operands', 'list_type');
};

/** @throws Problem if it is no list of this length; the message has the example */
export const listOf = (length: number, json: unknown, loc: Loc, example: string): unknown[] => {
  const items = list(json, loc);
  if (items.length === length) return items;
  throw new Problem(
    loc,
    `should be a list of ${length}: ${example}`,
    items.length < length ? 'too_short' : 'too_long',
  );
};

/** @throws Problem if it is no object, or has other fields than those */
export const fields = (json: unknown, loc: Loc, known: readonly string[]): Record<string, unknown> => {
  if (!isJsonObject(json))
    throw new Problem(loc, `should be an object with ${known.join(', ')}`, 'dict_type');
  const extra = Object.keys(json).find((key) => !known.includes(key));
  if (extra !== undefined)
    throw new Problem([...loc, extra.slice(0, 200)], 'there is no such field', 'extra_forbidden');
  return json;
};

/** @throws Problem if the record has no such field */
export const required = (record: Record<string, unknown>, key: string, loc: Loc): unknown => {
  if (Object.hasOwn(record, key)) return record[key];
  throw new Problem([...loc, key], 'this field is required', 'missing');
};
