import { type CallRow, getStatus } from '../api/calls.ts';
import type { Client } from '../api/client.ts';
import type { Operation } from '../api/contract.ts';
import { getKind, type Preview } from '../api/kind.ts';

/** Calls to models: those that say so, and those that used one. */
const isModel: Operation = {
  $or: [
    { $eq: [{ $getField: 'attributes.kind' }, { $literal: 'model' }] },
    { $ne: [{ $getField: 'summary.usage' }, { $literal: null }] },
  ],
};

/** The beginning of a list of numbers, which may lie in a field, and be one of several. */
const vector = /^(?:\{"\w+":)?\[+-?\d+(?:\.\d+)?(?:e-?\d+)?,-?\d/i;

/** The line of a table between its titles and its rows. */
const ruled = /\| *:?-{2,}:? *\|/;

/** A line without the signs that Markdown has around words and between cells. */
const withoutMarks = (line: string): string => {
  const plain = line.replace(/(\*\*|`)(\S(?:.*?\S)?)\1/g, '$2');
  return ruled.test(plain)
    ? plain.replace(/ *\|(?:[ |]|:?-{2,}:?)*/g, ' · ').replace(/([:.]|^) · /, '$1 ')
    : plain;
};

/** A field of an object without objects and lists in it. The last one may be cut. */
const field = /"([^"\\]+)":(?:"((?:[^"\\]|\\.)*)(?:"|$)|([^",:{}[\]]+))(?:,|\}?$|…$)/y;

const unescaped = (text: string): string =>
  text.replace(/\\(.)/g, (_, sign: string) => (/["\\/]/.test(sign) ? sign : ' '));

/** Data as people would write it down: `order: W1001, exchange: true`. */
export const withoutBraces = (line: string): string => {
  const fields: string[] = [];
  let at = 1;
  while (line.startsWith('{') && at < line.length) {
    field.lastIndex = at;
    const [whole = '', name = '', text, other = ''] = field.exec(line) ?? [];
    if (whole === '') return line;
    fields.push(`${name}: ${text === undefined ? other : unescaped(text)}`);
    at += whole.length;
  }
  return fields.length > 0 ? fields.join(', ') : line;
};

/** A preview as it is shown: without the signs of Markdown and JSON, and without the numbers of an embedding. */
export const shownPreview = ({ input, output }: Preview, call: CallRow): Preview => {
  const isVector =
    output !== null && getStatus(call) !== 'error' && (getKind(call) === 'embedding' || vector.test(output));
  return {
    input: input === null ? null : withoutMarks(withoutBraces(input)),
    output: output === null || isVector ? null : withoutMarks(withoutBraces(output)),
  };
};

/** Whether a row of a list does not say what was asked. */
export const isSilent = ({ preview }: Pick<CallRow, 'preview'>): boolean => (preview?.input ?? null) === null;

/**
 * What roots without content of their own were about: what their first call to a model was asked, and
 * what their last one answered.
 *
 * @returns previews by the ids of traces; those without a call to a model have none
 */
export const previewsOfTraces = async (
  client: Client,
  project: string,
  traces: readonly string[],
  signal: AbortSignal,
): Promise<Map<string, Preview>> => {
  const found = new Map<string, Preview>();
  const request = {
    project_id: project,
    filter: { trace_ids: [...traces] },
    query: { $expr: isModel },
    sort_by: [{ field: 'started_at', direction: 'asc' as const }],
    columns: ['preview'],
  };
  for await (const batch of client.stream('/calls/stream_query', request, signal))
    for (const { trace_id, preview } of batch) {
      const { input = null, output = null } = found.get(trace_id) ?? {};
      found.set(trace_id, { input: input ?? preview?.input ?? null, output: preview?.output ?? output });
    }
  return found;
};
