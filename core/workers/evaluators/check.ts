import type { Check } from '../../../api/evaluators.ts';
import { compileRe2 } from '../../../foundations/re2.ts';
import type { JsonValue } from '../../../foundations/wire/index.ts';
import type { Subject } from './subject.ts';
import type { Verdict } from './verdict.ts';

/** A text of which a check looks at no more, in characters. */
const maxText = 1_000_000;

const passes = (value: boolean, reason: string): Verdict => ({ value, reason });

const within = (actual: number, most: number, what: string): Verdict =>
  passes(actual <= most, `${actual} ${what}, at most ${most}`);

/** The JSON that a check of a schema looks at: a value as it is, or the JSON in a text. */
const jsonIn = (subject: Subject): JsonValue | undefined => {
  const { output, outputText } = subject;
  if (typeof output !== 'string' && outputText === JSON.stringify(output)) return output;
  try {
    return JSON.parse(outputText) as JsonValue;
  } catch {
    return undefined;
  }
};

/** A value as plain JSON has it: its numbers are doubles. */
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

const fitsSchema = async (schema: JsonValue, value: JsonValue): Promise<Verdict> => {
  const { Validator } = await import('@cfworker/json-schema');
  const validator = new Validator(plain(schema) as object | boolean, '2020-12', true);
  const { valid, errors } = validator.validate(plain(value));
  const first = errors.at(-1);
  return passes(
    valid,
    valid ? 'it fits the schema' : `${first?.instanceLocation ?? '#'}: ${first?.error ?? 'it does not fit'}`,
  );
};

/**
 * Checks a call or a trace.
 *
 * @throws ServiceError 503 when storage does not give what is looked at in time; Error if the check
 * cannot be made, as a JSON Schema may refer to what is not there
 */
export const checkSubject = async (check: Check, subject: Subject): Promise<Verdict> => {
  const text = subject.outputText.slice(0, maxText);
  if (check.contains !== null) {
    const found = text.includes(check.contains);
    return passes(found, found ? 'the output has the text' : 'the output lacks the text');
  }
  if (check.regex !== null) {
    const found = (await compileRe2(check.regex)).matcher(text).find();
    return passes(found, found ? 'the output matches' : 'the output does not match');
  }
  if (check.jsonSchema !== null) {
    const value = jsonIn(subject);
    return value === undefined ? passes(false, 'the output is no JSON') : fitsSchema(check.jsonSchema, value);
  }
  if (check.maxLatencyMs !== null) return within(subject.latencyMs, check.maxLatencyMs, 'ms');
  if (check.maxCostUsd !== null) return within(await subject.costUsd(), check.maxCostUsd, 'dollars');
  return within(await subject.toolCalls(), check.maxToolCalls ?? 0, 'calls of tools');
};
