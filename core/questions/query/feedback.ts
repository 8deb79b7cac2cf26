import { type Value, valueAt } from '../../foundations/expression/index.ts';
import { isJsonObject, type JsonValue } from '../../foundations/wire/index.ts';

/** Stands for every type. */
const anyType = '*';

/**
 * What a path leads to in the feedback on a call: `[<type>, 'payload', …]`, or another field of a
 * record. Of several records the latest that has a value there counts.
 *
 * @param records as they are answered, oldest first
 */
export const feedbackAt = (records: readonly JsonValue[], [type, ...steps]: readonly string[]): Value => {
  const found = records
    .filter(isJsonObject)
    .filter((record) => type === anyType || record.feedback_type === type)
    .map((record) => valueAt(record, steps));
  return found.findLast((value) => value !== undefined && value !== null);
};
