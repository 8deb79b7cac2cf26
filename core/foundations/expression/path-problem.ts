import type { ErrorDetail } from '../wire/index.ts';
import { type RecordKind, toPath } from './model.ts';

/** How long a path may be, in characters. Finding it takes the square of that for each record. */
export const maxPath = 512;

/** Checks a dotted path; undefined if it is good. */
export const pathProblem = (
  kind: Pick<RecordKind, 'fields' | 'nested' | 'pathRule'>,
  path: unknown,
): Omit<ErrorDetail, 'loc'> | undefined => {
  if (typeof path !== 'string') return { msg: 'should be a dotted path, as a string', type: 'string_type' };
  if (path.length > maxPath)
    return { msg: `should be at most ${maxPath} characters`, type: 'string_too_long' };
  const { field, steps } = toPath(path);
  const nested = kind.nested.join(', ');
  if (!kind.fields.includes(field)) {
    const below = nested && `, and dotted paths into ${nested}`;
    return {
      msg: `there is no such field; the fields are ${kind.fields.join(', ')}${below}`,
      type: 'value_error',
    };
  }
  if (steps.length > 0 && !kind.nested.includes(field))
    return { msg: `there is nothing below ${field}: leave out what follows it`, type: 'value_error' };
  const msg = kind.pathRule?.(toPath(path));
  return msg === undefined ? undefined : { msg, type: 'value_error' };
};
