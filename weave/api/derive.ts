import * as z from 'zod/mini';
import { clone } from 'zod/v4/core';
import { byIncludes, choiceOf } from '../../api/queries.ts';
import { languages, pathSchema, querySchema, type RecordKind } from '../../foundations/expression/index.ts';
import { documented, field, innerName, recipeOf, record, type Shape } from '../../foundations/wire/schema.ts';
import { nameInWeave, textInWeave } from '../names.ts';

/*
 * Schemas of Weave's dialect, derived from ours: the same with other names, and with what
 * `changes.ts` says of their components.
 */

/** How an object of a request differs in Weave's dialect. */
export interface Change {
  /** Fields that are other ones, or that our dialect lacks. */
  readonly fields: () => Shape;
  /** The inner names of further fields, as those of a record. */
  readonly names?: Readonly<Record<string, string>>;
  /** Makes inner fields of the fields on the wire. */
  readonly also?: (fields: Readonly<Record<string, unknown>>) => object;
  /** Looks at the fields together. */
  readonly check?: z.core.$ZodCheck<Readonly<Record<string, unknown>>>;
}

/** What Weave's dialect changes: by the names of components, and of records for expressions. */
export interface Changes {
  readonly components: Readonly<Record<string, Change>>;
  readonly kindOf: (kind: RecordKind) => RecordKind;
}

type Schema = z.ZodMiniType;

const entriesInWeave = (shape: Shape, changes: Changes): Shape =>
  Object.fromEntries(
    Object.entries(shape).map(([name, schema]) => [nameInWeave(name), derive(schema, changes)]),
  );

const deriveRecord = (
  { shape, names, also, checks }: NonNullable<ReturnType<typeof recipeOf>>,
  changes: Changes,
  change: Change | undefined,
): Schema => {
  const inner = Object.keys(shape).map((name) => [nameInWeave(name), names[name] ?? innerName(name)]);
  const both = (fields: never) => ({ ...also?.(fields), ...change?.also?.(fields) });
  return record(
    { ...entriesInWeave(shape, changes), ...change?.fields() },
    { ...Object.fromEntries(inner), ...change?.names },
    also || change?.also ? (fields) => both(fields as never) : undefined,
    ...(checks as readonly z.core.$ZodCheck<never>[] as readonly z.core.$ZodCheck<object>[]),
    ...(change?.check ? [change.check as z.core.$ZodCheck<object>] : []),
  );
};

/** The definition of a schema whose parts are in Weave's dialect. */
const deriveParts = (schema: Schema, changes: Changes): Schema => {
  const { def } = schema._zod;
  const of = (part: z.core.$ZodType) => derive(part as Schema, changes);
  const like = (parts: object): Schema => clone(schema, { ...def, ...parts });
  switch (def.type) {
    case 'object':
      return like({ shape: entriesInWeave((def as z.core.$ZodObjectDef).shape as Shape, changes) });
    case 'optional':
    case 'nullable':
      return like({ innerType: of((def as z.core.$ZodOptionalDef).innerType) });
    case 'array':
      return like({ element: of((def as z.core.$ZodArrayDef).element) });
    case 'union':
      return like({ options: (def as z.core.$ZodUnionDef).options.map(of) });
    case 'record': {
      const { keyType, valueType } = def as z.core.$ZodRecordDef;
      return like({ keyType, valueType: of(valueType) });
    }
    case 'pipe': {
      const { in: from, out } = def as z.core.$ZodPipeDef;
      return like({ in: of(from), out: of(out) });
    }
    default:
      return schema;
  }
};

const deriveLanguage = (
  { part, kind }: NonNullable<ReturnType<typeof languages.get>>,
  changes: Changes,
): Schema => {
  const inWeave = changes.kindOf({ times: new Set(), ...kind });
  return part === 'Query' ? querySchema(inWeave) : pathSchema(inWeave);
};

/** A schema in Weave's dialect. The change is that of the schema itself, if it has no name. */
export const derive = (schema: Schema, changes: Changes, change?: Change): Schema => {
  const { parent } = schema._zod;
  // A field: a schema with a description of its own.
  if (parent && parent._zod.def === schema._zod.def) {
    const { description = '' } = z.globalRegistry.get(schema) ?? {};
    return field(derive(parent as Schema, changes, change), textInWeave(description));
  }
  const about = documented.has(schema) ? documented.get(schema) : undefined;
  const choice = choiceOf(schema);
  if (choice) return byIncludes((includes) => derive(choice(includes) as Schema, changes, change));
  const language = languages.get(schema);
  if (language) return deriveLanguage(language, changes);
  const recipe = recipeOf(schema);
  const made = recipe
    ? deriveRecord(recipe, changes, change ?? changes.components[about?.name ?? ''])
    : deriveParts(schema, changes);
  if (!about || made === schema) return made;
  const { like, ...rest } = about;
  documented.add(made, { ...rest, ...(like && { like: () => derive(like() as Schema, changes) }) });
  return made;
};
