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
import { cutter, gapTexts } from './cut.ts';
import { didYouMean } from './mend.ts';
import { whatIs } from './near.ts';
import { fitted, isFields, type Json, type JsonFields, toMissing } from './reply.ts';
import { allFeedback, getValues, isOfFeedback, valueIn } from './values.ts';

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
  const { field, steps } = toPath(path);
  const value = valueIn(call, path);
  if (value !== undefined) return value;
  let at = call[field] as Json | undefined;
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

/** One value of a call, from an offset on. */
const readValueFrom = (
  value: Json,
  path: string,
  offset: number,
  head: JsonFields,
  maxCharacters: number,
): JsonFields => {
  const cut = cutter();
  const isText = typeof value === 'string';
  if (!isText && !Array.isArray(value)) {
    if (offset > 0) throw invalidAt(['body', 'offset'], `${path} is neither a text nor a list`);
    return fitted(maxCharacters, maxCharacters, (room) => {
      const { value: shown, gaps } = cut(value, room, path);
      return { ...head, path, value: shown, ...toMissing(gapTexts(gaps)) };
    });
  }
  const total = value.length;
  const unit = isText ? 'characters' : 'items';
  if (offset > 0 && offset >= total) throw invalidAt(['body', 'offset'], `${path} has ${total} ${unit}`);
  const about = { ...head, path, offset, of: total, unit };
  const rest = value.slice(offset);
  const reply = fitted(maxCharacters, Math.min(rest.length, maxCharacters), (count) => {
    const shown = rest.slice(0, count);
    const next = offset + count;
    if (next >= total) return { ...about, value: shown };
    return {
      ...about,
      value: typeof shown === 'string' ? shown.toWellFormed() : shown,
      next_offset: next,
      missing: [`the rest: get_call with path ${path} and offset ${next}`],
    };
  });
  // The first item alone may be too long.
  if (isText || rest.length === 0 || reply.value.length > 0) return reply;
  return fitted(maxCharacters, maxCharacters, (room) => {
    const { value: item, gaps } = cut(rest[0] ?? null, room, `${path}.${offset}`);
    return {
      ...about,
      value: [item],
      ...(rest.length > 1 && { next_offset: offset + 1 }),
      missing: gapTexts(gaps),
    };
  });
};

/** What is said of a call, without what its row says: figures, and costs part by part. */
const withoutRepeats = ({ summary, exception, ...fields }: JsonFields): JsonFields => {
  const { svc, ...said } = toFields(summary);
  const { feedback } = toFields(svc);
  const records = Array.isArray(feedback) ? feedback.filter(isFields) : [];
  return {
    ...fields,
    ...(exception !== null && { exception }),
    ...(Object.keys(said).length > 0 && { summary: said }),
    ...(records.length > 0 && {
      feedback: records.map(({ feedback_type, payload, creator, created_at }) =>
        compact({ feedback_type, payload, creator, created_at }),
      ),
    }),
  };
};

export const getCall = runs(description, async (args, context) => {
  const { projectId, callId, columns, path, offset, maxCharacters } = args;
  const { links } = context;
  const requestedColumns =
    path === null ? (columns ?? usualColumns) : [isOfFeedback(path) ? allFeedback : toPath(path).field];
  const call = await readOne(context, projectId, callId, requestedColumns);
  const url = links.trace(projectId, asString(call.trace_id) ?? '', callId);
  if (path !== null)
    return readValueFrom(valueAtPath(call, path), path, offset, { call_id: callId, url }, maxCharacters);
  const about = {
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
  const values = getValues(call, requestedColumns);
  const fields = columns === null ? withoutRepeats(values) : values;
  const cut = cutter();
  return fitted(maxCharacters, maxCharacters, (room) => {
    const { value, gaps } = cut(fields, room, '');
    return {
      call: { ...about, ...(isFields(value) && value) },
      url,
      ...toMissing(gapTexts(gaps)),
    };
  });
});
