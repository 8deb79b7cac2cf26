import { everyCall, noIncludes } from '../../../api/queries.ts';
import { getCall as description } from '../../../api/tools.ts';
import { toPath, valueAt } from '../../../foundations/expression/index.ts';
import {
  asString,
  invalidAt,
  type JsonValue,
  notFound,
  type ProjectId,
} from '../../../foundations/wire/index.ts';
import { type Call, compact, headerColumns, readCalls, toFields, toRow } from './calls.ts';
import { runs, type ToolContext } from './context.ts';
import { cutter, type Gap, gapTexts, namedIn, pathBelow } from './cut.ts';
import { didYouMean, toWord } from './mend.ts';
import { whatIs } from './near.ts';
import { fitted, isFields, type Json, type JsonFields, measureResult, toMissing } from './reply.ts';
import { feedbackOn, getValues, isOfFeedback, valueIn } from './values.ts';

const usualColumns = ['attributes', 'inputs', 'output', 'exception', 'summary'];

/**
 * Reads one call.
 *
 * @throws ServiceError 404 if there is none
 */
export const readOne = async (
  context: ToolContext,
  projectId: ProjectId,
  id: string,
  columns: readonly string[],
  name = 'call_id',
): Promise<Call> => {
  const [call] = await readCalls(context, {
    projectId,
    filter: { ...everyCall, callIds: [id] },
    columns: [...headerColumns, ...columns],
    includes: { ...noIncludes, costs: true, feedback: columns.includes('summary') },
  });
  if (call) return call;
  const way = (await whatIs(context, projectId, id)) || '; query_calls finds calls';
  throw notFound(['body', name], `there is no call ${id} in ${projectId}${way}`);
};

/** What a path leads to in a call. @throws ServiceError 422 with what was probably meant */
const valueAtPath = (call: Call, path: string): Json => {
  const value = valueIn(call, path);
  if (value !== undefined) return value;
  const { field, steps } = toPath(path);
  if (path.startsWith('feedback.[')) {
    const types = feedbackOn(call).map(({ feedback_type }) => toWord(`feedback.[${feedback_type}]`));
    const list = types.length > 0 ? `; there are ${[...new Set(types)].join(', ')}` : ' on this call';
    throw invalidAt(['body', 'path'], `there is no \`${path}\`${list}`);
  }
  let at = valueIn(call, field);
  let walked = field;
  for (const [i, step] of steps.entries()) {
    const next = valueAt(at as JsonValue, [step]) as Json | undefined;
    if (next === undefined) {
      const known = isFields(at) ? Object.keys(at) : [];
      const where = Array.isArray(at) ? `${walked} is a list of ${at.length}` : `there is no \`${path}\``;
      const rest = steps.slice(i + 1).map((step) => `.${step}`);
      const candidates = known.map((name) => `${walked}.${name}${rest.join('')}`);
      throw invalidAt(['body', 'path'], `${where}${didYouMean(path, candidates)}`);
    }
    [at, walked] = [next, `${walked}.${step}`];
  }
  throw invalidAt(['body', 'path'], `there is no \`${path}\``);
};

/** What is longer, as JSON, is cut where several fields share a reply. */
const longField = 200;

/** The first fields of an object that a reply can show something of each: at least one. */
const fittingFields = (fields: JsonFields, maxCharacters: number): JsonFields => {
  let left = maxCharacters / 5;
  return Object.fromEntries(
    Object.entries(fields).filter(([name, item], i) => {
      const isNext = i === 0 || left > 0;
      left -= name.length + Math.min(longField, JSON.stringify(item ?? null).length);
      return isNext;
    }),
  );
};

/** One value of a call, from an offset on: of a text that counts characters, of a list items, of an object fields. */
const readValueFrom = (
  value: Json,
  path: string,
  offset: number,
  head: JsonFields,
  maxCharacters: number,
): JsonFields => {
  const isText = typeof value === 'string';
  if (!isText && !Array.isArray(value) && !isFields(value)) {
    if (offset > 0) throw invalidAt(['body', 'offset'], `${path} is neither a text nor a list nor an object`);
    return { ...head, value };
  }
  const unit = isText ? 'characters' : Array.isArray(value) ? 'items' : 'fields';
  const total = isText || Array.isArray(value) ? value.length : Object.keys(value).length;
  if (offset > 0 && offset >= total) throw invalidAt(['body', 'offset'], `${path} has ${total} ${unit}`);
  const upTo = (next: number, shown: Json, missing: readonly string[] = []): JsonFields => ({
    ...head,
    // A whole object goes without saying.
    ...((unit !== 'fields' || offset > 0 || next < total) && { offset, of: total, unit }),
    value: shown,
    ...(next < total && { next_offset: next }),
    ...toMissing([
      ...missing,
      ...(next < total ? [`the rest: get_call with path ${toWord(path)} and offset ${next}`] : []),
    ]),
  });
  const cut = cutter();
  const tellOf = (gaps: readonly Gap[], places: readonly string[]) =>
    gapTexts(gaps, { most: namedIn(maxCharacters), places });
  if (isText || Array.isArray(value)) {
    const rest = value.slice(offset);
    const reply = fitted(maxCharacters, Math.min(rest.length, maxCharacters), (count) => {
      const shown = rest.slice(0, count);
      return { ...upTo(offset + count, typeof shown === 'string' ? shown.toWellFormed() : shown), count };
    });
    const { count, ...shown } = reply;
    if (isText || rest.length === 0 || count > 0) return shown;
    // The first item alone may be too long.
    const place = pathBelow(path, String(offset));
    return fitted(maxCharacters, maxCharacters, (room) => {
      const { value: item, gaps } = cut(rest[0] ?? null, room, place, true);
      return upTo(offset + 1, [item], tellOf(gaps, [place]));
    });
  }
  const rest = Object.fromEntries(Object.entries(value as JsonFields).slice(offset));
  const some = fittingFields(rest, maxCharacters);
  const shown = Object.entries(some);
  return fitted(maxCharacters, maxCharacters, (room) => {
    const { value: cutFields, gaps } = cut(some, room, path, true);
    const places = shown.map(([name]) => pathBelow(path, name));
    return upTo(offset + shown.length, cutFields, tellOf(gaps, places));
  });
};

/** What is said of a call, without what its row says: figures, and costs part by part. */
const withoutRepeats = (call: Call, { summary, exception, ...fields }: JsonFields): JsonFields => {
  const { svc: _, ...said } = toFields(summary);
  const feedback = feedbackOn(call);
  return {
    ...fields,
    ...(exception !== null && { exception }),
    ...(Object.keys(said).length > 0 && { summary: said }),
    ...(feedback.length > 0 && { feedback }),
  };
};

/** A reply that has less for values says of the call only which it is. */
const leastForValues = 1500;

export const getCall = runs(description, async (args, context) => {
  const { projectId, callId, columns, path, offset, maxCharacters } = args;
  const { links } = context;
  const requestedColumns =
    path === null ? (columns ?? usualColumns) : [isOfFeedback(path) ? path : toPath(path).field];
  const call = await readOne(context, projectId, callId, requestedColumns);
  const url = links.trace(projectId, asString(call.trace_id) ?? '', callId);
  if (path !== null) {
    const head = maxCharacters < 2 * leastForValues ? {} : { call_id: callId, path };
    return readValueFrom(valueAtPath(call, path), path, offset, head, maxCharacters);
  }
  const whole = {
    ...toRow(call),
    ...compact({
      trace_id: call.trace_id,
      parent_id: call.parent_id,
      thread_id: call.thread_id,
      turn_id: call.turn_id,
      ended_at: call.ended_at,
      user: call.svc_user_id,
    }),
  };
  const isTight = maxCharacters - measureResult({ call: whole, url }) < leastForValues;
  const { id, status } = toRow(call);
  const values = getValues(call, requestedColumns);
  const fields = columns === null ? withoutRepeats(call, values) : values;
  const cut = cutter();
  return fitted(maxCharacters, maxCharacters, (room) => {
    const { value, gaps } = cut(fields, room, '');
    return {
      call: { ...(isTight ? { id, status } : whole), ...toFields(value) },
      ...(!isTight && { url }),
      ...toMissing(
        gapTexts(gaps, { most: isTight ? 0 : namedIn(maxCharacters), places: Object.keys(fields) }),
      ),
    };
  });
});
