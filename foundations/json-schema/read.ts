import { isJsonObject, type JsonValue } from '../wire/index.ts';
import { formats } from './formats.ts';

/*
 * JSON Schemas that clients send, as far as it is known what checking them takes. What is read is
 * built anew of the keywords below: a validator sees nothing else, so that nothing in a schema that
 * looks like an annotation can mean something to it.
 */

/** A schema, made of nothing but known keywords with values of their kinds. */
export type Schema = boolean | SchemaObject;
export interface SchemaObject {
  readonly [keyword: string]: unknown;
}

/** What is wrong with a schema, and where. */
export interface SchemaProblem {
  /** The keywords and positions that lead there. */
  readonly path: readonly string[];
  readonly msg: string;
}

/** The longest schema, in characters of JSON. */
export const maxSchema = 100_000;
/** How deep schemas may be nested, and how many there may be in one. */
export const maxNested = 64;
export const maxSubschemas = 2000;
/** To how many schemas one may grow when each `$ref` is replaced by what it leads to. */
export const maxExpanded = 10_000;

type Kind = (value: unknown) => boolean;

const isText: Kind = (value) => typeof value === 'string';
const isTexts: Kind = (value) => Array.isArray(value) && value.every(isText);
const isNumber: Kind = (value) => typeof value === 'number';
const isCount: Kind = (value) => Number.isSafeInteger(value) && Number(value) >= 0;
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const types: ReadonlySet<unknown> = new Set([
  'null',
  'boolean',
  'object',
  'array',
  'number',
  'integer',
  'string',
]);

/** Keywords whose values are no schemas. */
interface PlainKeywords {
  readonly names: readonly string[];
  readonly isValid: Kind;
  /** What the value should be, for a problem. */
  readonly msg: string;
}

const plainKeywords: ReadonlyMap<string, PlainKeywords> = new Map(
  (
    [
      {
        names: ['type'],
        isValid: (value) => (Array.isArray(value) ? value : [value]).every((type) => types.has(type)),
        msg: `should be one of ${[...types].join(', ')}, or a list of these`,
      },
      { names: ['const'], isValid: () => true, msg: '' },
      { names: ['enum'], isValid: Array.isArray, msg: 'should be a list' },
      { names: ['required'], isValid: isTexts, msg: 'should be a list of names' },
      {
        names: ['dependentRequired'],
        isValid: (value) => isObject(value) && Object.values(value).every(isTexts),
        msg: 'should be an object of lists of names',
      },
      {
        names: ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'],
        isValid: isNumber,
        msg: 'should be a number',
      },
      {
        names: ['multipleOf'],
        isValid: (value) => isNumber(value) && Number(value) > 0,
        msg: 'should be a number above 0',
      },
      {
        names: [
          'minLength',
          'maxLength',
          'minItems',
          'maxItems',
          'minProperties',
          'maxProperties',
          'minContains',
          'maxContains',
        ],
        isValid: isCount,
        msg: 'should be a whole number from 0',
      },
      {
        names: ['uniqueItems'],
        isValid: (value) => typeof value === 'boolean',
        msg: 'should be true or false',
      },
      {
        names: ['format'],
        isValid: (value) => typeof value === 'string' && Object.hasOwn(formats, value),
        msg: `should be one of ${Object.keys(formats).join(', ')}`,
      },
    ] satisfies PlainKeywords[]
  ).flatMap((keywords) => keywords.names.map((name) => [name, keywords])),
);

/** Keywords whose schemas look at the same value, and those whose schemas look at what is in it. */
const here = true;
const within = false;

const oneSchema: ReadonlyMap<string, boolean> = new Map([
  ...['not', 'if', 'then', 'else'].map((name) => [name, here] as const),
  ...[
    'items',
    'additionalItems',
    'unevaluatedItems',
    'contains',
    'additionalProperties',
    'unevaluatedProperties',
    'propertyNames',
  ].map((name) => [name, within] as const),
]);

const listsOfSchemas: ReadonlyMap<string, boolean> = new Map([
  ...['allOf', 'anyOf', 'oneOf'].map((name) => [name, here] as const),
  ['prefixItems', within],
  // Lists of items are of older drafts.
  ['items', within],
]);

const schemasByName: ReadonlyMap<string, boolean | undefined> = new Map([
  ['properties', within],
  ['dependentSchemas', here],
  // These look at nothing by themselves.
  ['$defs', undefined],
  ['definitions', undefined],
]);

/** Keywords that are not known here and that a schema would mean something else without. */
const refused: ReadonlyMap<string, string> = new Map([
  ['pattern', 'is not taken: use a check with a regex for that'],
  ['patternProperties', 'is not taken: name the properties, or use additionalProperties'],
  ['dependencies', 'is not taken: use dependentRequired or dependentSchemas'],
  ...['$recursiveRef', '$dynamicRef'].map(
    (name) => [name, 'is not taken: use $ref with # or a pointer such as #/$defs/name'] as const,
  ),
]);

/** One schema of a schema. */
interface Node {
  readonly path: readonly string[];
  /** What it was built into. */
  readonly built: Schema;
  /** The schemas that it has checked, and whether they look at the same value. */
  readonly below: readonly (readonly [Node, isHere: boolean])[];
  /** The place that its `$ref` leads to. */
  readonly ref: string | undefined;
}

class Refused extends Error {
  readonly problem: SchemaProblem;
  constructor(path: readonly string[], msg: string) {
    super(msg);
    this.problem = { path, msg };
  }
}

/** Places of schemas as the keys of a map. */
const toPlace = (path: readonly string[]): string => JSON.stringify(path);

/** The place that a `$ref` names. */
const placeOfRef = (ref: unknown, path: readonly string[]): string => {
  const msg = 'should be # or a pointer into this schema, such as #/$defs/name';
  if (typeof ref !== 'string' || !/^#(?:\/|$)/.test(ref)) throw new Refused(path, msg);
  try {
    const names = ref.split('/').slice(1).map(decodeURIComponent);
    return toPlace(names.map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~')));
  } catch {
    throw new Refused(path, msg);
  }
};

/** Builds a schema and all in it. */
class Builder {
  readonly nodes = new Map<string, Node>();
  #count = 0;

  build(value: unknown, path: readonly string[], depth: number): Node {
    if (depth > maxNested) throw new Refused(path, `should nest schemas at most ${maxNested} deep`);
    if (++this.#count > maxSubschemas)
      throw new Refused(path, `should have at most ${maxSubschemas} schemas in all`);
    if (typeof value !== 'boolean' && !isObject(value))
      throw new Refused(path, 'should be a JSON Schema: an object, true or false');
    const node =
      typeof value === 'boolean'
        ? { path, built: value, below: [], ref: undefined }
        : this.#ofObject(value, path, depth);
    this.nodes.set(toPlace(path), node);
    return node;
  }

  #ofObject(value: Record<string, unknown>, path: readonly string[], depth: number): Node {
    const below: [Node, boolean][] = [];
    let ref: string | undefined;
    const add = (inner: unknown, at: readonly string[], isHere: boolean | undefined): Schema => {
      const node = this.build(inner, at, depth + 1);
      if (isHere !== undefined) below.push([node, isHere]);
      return node.built;
    };
    const built = Object.entries(value).flatMap(([name, inner]): [string, unknown][] => {
      const at = [...path, name];
      const why = refused.get(name);
      if (why !== undefined) throw new Refused(at, why);
      // A reference would be to somewhere else below an id.
      if (name === '$id' && depth > 0) throw new Refused(at, 'is taken at the top alone');
      if (name === '$ref') {
        ref = placeOfRef(inner, at);
        return [[name, inner]];
      }
      const plain = plainKeywords.get(name);
      if (plain) {
        if (!plain.isValid(inner)) throw new Refused(at, plain.msg);
        return [[name, inner]];
      }
      const list = listsOfSchemas.get(name);
      if (list !== undefined && Array.isArray(inner))
        return [[name, inner.map((subschema, i) => add(subschema, [...at, String(i)], list))]];
      const one = oneSchema.get(name);
      if (one !== undefined) return [[name, add(inner, at, one)]];
      if (list !== undefined) throw new Refused(at, 'should be a list of JSON Schemas');
      if (!schemasByName.has(name)) return [];
      if (!isObject(inner)) throw new Refused(at, 'should be an object of JSON Schemas');
      const named = Object.entries(inner).map(([key, subschema]) => [
        key,
        add(subschema, [...at, key], schemasByName.get(name)),
      ]);
      return [[name, Object.fromEntries(named)]];
    });
    return { path, built: Object.fromEntries(built), below, ref };
  }
}

type Nodes = ReadonlyMap<string, Node>;

/** What a schema has checked: what its `$ref` leads to, and the schemas in it. */
const checkedBy = (nodes: Nodes, { path, below, ref }: Node): Node['below'] => {
  if (ref === undefined) return below;
  const target = nodes.get(ref);
  if (!target) throw new Refused([...path, '$ref'], 'leads to no schema in this one');
  return [[target, here], ...below];
};

/** Refuses schemas that lead back to themselves for the same value, which has no end. */
const refuseEndless = (nodes: Nodes): void => {
  const seen = new Map<Node, 'open' | 'done'>();
  const visit = (node: Node): void => {
    if (seen.get(node) === 'done') return;
    if (seen.has(node))
      throw new Refused(node.path, 'leads back to itself for the same value, without an end');
    seen.set(node, 'open');
    for (const [inner, isHere] of checkedBy(nodes, node)) if (isHere) visit(inner);
    seen.set(node, 'done');
  };
  for (const node of nodes.values()) visit(node);
};

/**
 * Counts the schemas that one grows to. What leads back to itself, for a value in the one that it
 * looks at, counts once: it ends with the value.
 */
const expandedSize = (nodes: Nodes, root: Node): number => {
  const sizes = new Map<Node, number>();
  const getSize = (node: Node): number => {
    const known = sizes.get(node);
    if (known !== undefined) return known;
    sizes.set(node, 1);
    const size = checkedBy(nodes, node).reduce((sum, [inner]) => sum + getSize(inner), 1);
    sizes.set(node, size);
    return size;
  };
  return getSize(root);
};

/** Numbers as doubles, which is all that a validator knows. */
const plain = (value: JsonValue): unknown => JSON.parse(JSON.stringify(value));

const read = (value: JsonValue): Schema => {
  if (!isJsonObject(value) && typeof value !== 'boolean')
    throw new Refused([], 'should be a JSON Schema: an object, true or false');
  const length = JSON.stringify(value).length;
  if (length > maxSchema) throw new Refused([], `should be at most ${maxSchema} characters of JSON`);
  const builder = new Builder();
  const root = builder.build(plain(value), [], 0);
  refuseEndless(builder.nodes);
  if (expandedSize(builder.nodes, root) > maxExpanded)
    throw new Refused(
      [],
      `should be at most ${maxExpanded} schemas with each $ref replaced by what it leads to`,
    );
  return root.built;
};

/**
 * Reads a JSON Schema (2020-12) that a client sent.
 *
 * @returns the schema without annotations and unknown keywords; or what is wrong with it
 */
export const readSchema = (
  value: JsonValue,
): { readonly schema: Schema } | { readonly problem: SchemaProblem } => {
  try {
    return { schema: read(value) };
  } catch (error) {
    if (error instanceof Refused) return { problem: error.problem };
    throw error;
  }
};
