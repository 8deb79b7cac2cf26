import type { Check } from '../../../api/evaluators.ts';
import { includes } from '../../../foundations/includes.ts';
import { readSchema } from '../../../foundations/json-schema/read.ts';
import type { JsonValue } from '../../../foundations/wire/index.ts';
import { CheckFailed, runCheck } from './check-runner.ts';
import type { Subject } from './subject.ts';
import type { Verdict } from './verdict.ts';

/** A text of which checks look at no more, in characters; and the same of what a regex looks at. */
const maxText = 1_000_000;
const maxMatched = 100_000;

const passes = (value: boolean, reason: string): Verdict => ({ value, reason });

const within = (actual: number, most: number, what: string): Verdict =>
  passes(actual <= most, `${actual} ${what}, at most ${most}`);

/** The beginning of an output that is looked at, and what a reason calls it. */
const beginning = (output: string, most: number): readonly [text: string, name: string] =>
  output.length <= most
    ? [output, 'the output']
    : [output.slice(0, most), `what was looked at, the first ${most} characters of the output,`];

const containsText = (sought: string, output: string): Verdict => {
  const [text, name] = beginning(output, maxText);
  const found = includes(text, sought);
  return passes(found, found ? `${name} has the text` : `${name} lacks the text`);
};

const matchesRegex = async (pattern: string, output: string): Promise<Verdict> => {
  const [text, name] = beginning(output, maxMatched);
  const { passes: found } = await runCheck({ kind: 'regex', pattern, text });
  return passes(found, found ? `${name} matches` : `${name} does not match`);
};

const fitsSchema = async (value: JsonValue, output: string): Promise<Verdict> => {
  const read = readSchema(value);
  // It was saved by a release that took it.
  if ('problem' in read)
    throw new CheckFailed(
      `json_schema${read.problem.path.map((name) => `.${name}`).join('')} ${read.problem.msg}`,
    );
  if (output.length > maxText)
    throw new CheckFailed(
      `the output has ${output.length} characters, and a JSON Schema looks at ${maxText} at most`,
    );
  const { passes: fits, reason } = await runCheck({ kind: 'schema', schema: read.schema, text: output });
  return passes(fits, reason ?? 'it fits the schema');
};

/**
 * Checks a call or a trace.
 *
 * @throws CheckFailed if the check takes too long or cannot be made as it is; ServiceError 503 when
 * storage does not give what is looked at in time
 */
export const checkSubject = async (check: Check, subject: Subject): Promise<Verdict> => {
  if (check.contains !== null) return containsText(check.contains, subject.outputText);
  if (check.regex !== null) return matchesRegex(check.regex, subject.outputText);
  if (check.jsonSchema !== null) return fitsSchema(check.jsonSchema, subject.outputText);
  if (check.maxLatencyMs !== null) return within(subject.latencyMs, check.maxLatencyMs, 'ms');
  if (check.maxCostUsd !== null) return within(await subject.costUsd(), check.maxCostUsd, 'dollars');
  return within(await subject.toolCalls(), check.maxToolCalls ?? 0, 'calls of tools');
};
