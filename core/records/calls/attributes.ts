import { type HeaderAttribute, headerAttributes } from '../../../api/calls.ts';
import { keysTo, valueAt } from '../../../foundations/expression/index.ts';
import type { JsonObject } from '../../../foundations/wire/index.ts';
import type { StartAttributes, StartHeader } from './model.ts';

/** The longest text that a header holds of an attribute, in UTF-16 code units. */
const maxText = 128;

/** The attributes of a call that has none that headers hold. */
export const noAttributes: StartAttributes = {};

const pathOf = (name: HeaderAttribute): readonly string[] => name.split('.');
const paths = headerAttributes.map((name) => [name, pathOf(name)] as const);

/** What a header holds of a start's attributes. */
export const attributesForHeader = (attributes: JsonObject): StartAttributes => {
  const found: { -readonly [field in keyof StartAttributes]: StartAttributes[field] } = {};
  for (const [name, path] of paths) {
    const keys = keysTo(attributes, path);
    if (!keys) continue;
    const value = valueAt(attributes, keys) ?? null;
    // Headers keep texts as UTF-8, which has no lone surrogates.
    const fits =
      value === null || (typeof value === 'string' && value.length <= maxText && value.isWellFormed());
    found[name] = fits ? value : true;
    if (keys.length < path.length) found.isUserDotted = true;
  }
  return found;
};

const byPath: ReadonlyMap<string, HeaderAttribute> = new Map(
  headerAttributes.map((name) => [`attributes.${name}`, name]),
);

/** The attribute in headers that a dotted path leads to; undefined for any other path. */
export const headerAttributeAt = (path: string): HeaderAttribute | undefined => byPath.get(path);

/** The part of a call's attributes that its header holds, in their own shape. */
export const knownAttributes = ({ attributes }: StartHeader): JsonObject => {
  const { kind, environment, release, isUserDotted } = attributes;
  const user = attributes['user.id'];
  const known: JsonObject = {};
  if (user !== undefined && user !== true)
    Object.assign(known, isUserDotted ? { 'user.id': user } : { user: { id: user } });
  for (const [name, value] of Object.entries({ kind, environment, release }))
    if (value !== undefined && value !== true) known[name] = value;
  return known;
};
