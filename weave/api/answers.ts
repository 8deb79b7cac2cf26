import type * as z from 'zod/mini';
import { nameInWeave } from '../names.ts';

/*
 * Answers that are values, in Weave's dialect. Those that are streamed as text get their names
 * where they are written.
 */

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
export const answerInWeave = (schema: z.core.$ZodType): Rename | undefined => {
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
    default:
      return undefined;
  }
};
