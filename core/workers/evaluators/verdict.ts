import type { JudgeAnswer } from '../../../api/evaluators.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../foundations/wire/index.ts';

/** What an evaluator says of a call. */
export interface Verdict {
  /** Null if it could not be judged, which the error explains. */
  readonly value: boolean | number | string | null;
  readonly reason?: string | undefined;
  readonly error?: string | undefined;
}

const maxReason = 2000;

/** A verdict as the payload of feedback. */
export const toPayload = ({ value, reason, error }: Verdict): JsonObject => ({
  value,
  ...(reason !== undefined && reason !== '' && { reason: reason.slice(0, maxReason).toWellFormed() }),
  ...(error !== undefined && { error: error.slice(0, maxReason).toWellFormed() }),
});

const objectIn = (text: string): JsonValue | undefined => {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
};

/** The JSON object in a text: all of it, or from its first brace to its last. */
const findJson = (text: string): JsonValue | undefined =>
  objectIn(text) ?? objectIn(text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1));

const booleans: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['yes', true],
  ['false', false],
  ['no', false],
]);

const checkedValue = (
  { type, labels, minimum, maximum }: JudgeAnswer,
  value: JsonValue | undefined,
): Verdict['value'] => {
  if (type === 'boolean')
    return typeof value === 'boolean' ? value : (booleans.get(String(value).trim().toLowerCase()) ?? null);
  if (type === 'label') {
    const named = String(value).trim().toLowerCase();
    return labels?.find((label) => label.toLowerCase() === named) ?? null;
  }
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  if (typeof number !== 'number' || !Number.isFinite(number)) return null;
  return number < (minimum ?? number) || number > (maximum ?? number) ? null : number;
};

/**
 * Reads a judge's answer. Models put a fence around JSON, or a sentence before it, so what is between
 * the first brace and the last counts.
 *
 * @returns undefined if it is not what was asked for
 */
export const readVerdict = (answer: JudgeAnswer, text: string): Verdict | undefined => {
  const found = findJson(text);
  if (found === undefined || !isJsonObject(found)) return undefined;
  const value = checkedValue(answer, found.value);
  if (value === null) return undefined;
  return { value, ...(typeof found.reason === 'string' && { reason: found.reason }) };
};

const valueSchema = ({ type, labels, minimum, maximum }: JudgeAnswer): JsonObject => {
  if (type === 'boolean') return { type: 'boolean' };
  if (type === 'label') return { type: 'string', enum: [...(labels ?? [])] };
  return {
    type: 'number',
    ...(minimum !== null && { minimum }),
    ...(maximum !== null && { maximum }),
  };
};

/** The form of an answer, for upstreams that take one: OpenAI's `response_format`. */
export const answerFormat = (answer: JudgeAnswer): JsonObject => ({
  type: 'json_schema',
  json_schema: {
    name: 'verdict',
    strict: true,
    schema: {
      type: 'object',
      properties: { reason: { type: 'string' }, value: valueSchema(answer) },
      required: ['reason', 'value'],
      additionalProperties: false,
    },
  },
});

/** What a judge is told to answer, for models that look at no form. */
export const answerRule = ({ type, labels, minimum, maximum }: JudgeAnswer): string => {
  const bounds = [
    ...(minimum !== null ? [`at least ${minimum}`] : []),
    ...(maximum !== null ? [`at most ${maximum}`] : []),
  ].join(' and ');
  const what = {
    boolean: 'true or false',
    number: `a number${bounds && `, ${bounds}`}`,
    label: `one of ${(labels ?? []).map((label) => JSON.stringify(label)).join(', ')}`,
  }[type];
  return `Answer with a JSON object and nothing else: {"reason": <one or two sentences>, "value": <${what}>}.`;
};
