import type * as z from 'zod/mini';
import type { Endpoint } from '../api/endpoint.ts';
import { bodyInWeave, changes } from './api/changes.ts';
import { derive } from './api/derive.ts';
import { nameInWeave } from './names.ts';

type Rename = (value: unknown) => unknown;

const renameObject = (shape: z.core.$ZodShape): Rename | undefined => {
  const fields = Object.entries(shape).map(
    ([name, schema]) => [name, nameInWeave(name), answerInWeave(schema)] as const,
  );
  const changed = fields.filter(([name, inWeave, rename]) => name !== inWeave || rename);
  if (changed.length === 0) return undefined;
  const byName = new Map(changed.map(([name, ...change]) => [name, change]));
  return (value) =>
    Object.fromEntries(
      Object.entries(value as object).map(([name, of]) => {
        const [inWeave = name, rename] = byName.get(name) ?? [];
        return [inWeave, rename ? rename(of) : of];
      }),
    );
};

/**
 * What gives an answer the names of Weave's dialect, where its schema names fields; what is free
 * stays as it is.
 *
 * @returns undefined if both dialects call everything alike
 */
const answerInWeave = (schema: z.core.$ZodType): Rename | undefined => {
  const { def } = schema._zod;
  switch (def.type) {
    case 'object':
      return renameObject((def as z.core.$ZodObjectDef).shape);
    case 'optional':
    case 'nullable': {
      const rename = answerInWeave((def as z.core.$ZodOptionalDef).innerType);
      return rename && ((value) => (value == null ? value : rename(value)));
    }
    case 'array': {
      const rename = answerInWeave((def as z.core.$ZodArrayDef).element);
      return rename && ((value) => (value as readonly unknown[]).map(rename));
    }
    case 'record': {
      const rename = answerInWeave((def as z.core.$ZodRecordDef).valueType);
      return (
        rename &&
        ((value) => Object.fromEntries(Object.entries(value as object).map(([key, of]) => [key, rename(of)])))
      );
    }
    default:
      return undefined;
  }
};

/** A description, as far as a dialect changes how its requests and answers are read. */
export type Described = Pick<Endpoint, 'path' | 'request' | 'answer' | 'tolerant'>;

/**
 * A description in Weave's dialect: it has requests of its own, and passes unknown fields over.
 * Those that do so already are of this dialect alone.
 */
export const inWeave = <D extends Described>(own: D): D => {
  const { path, tolerant, request } = own;
  if (tolerant) return own;
  return { ...own, tolerant: true, ...(request && { request: () => bodyInWeave(path, request()) }) };
};

/**
 * What gives an answer that is a value the names of Weave's dialect. That of an endpoint of this dialect
 * alone has them already.
 */
export const weaveNames = ({ answer }: Pick<Described, 'answer'>): (<T>(value: T) => T) => {
  const rename = answerInWeave(answer());
  return rename ? (value) => rename(value) as typeof value : (value) => value;
};

/** A schema of a value that is no body, in Weave's dialect. */
export const schemaInWeave = <S extends z.ZodMiniType>(own: S): S => derive(own, changes) as S;
