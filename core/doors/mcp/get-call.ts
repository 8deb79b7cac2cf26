import { everyCall, noIncludes } from '../../../api/queries.ts';
import { getCall as description } from '../../../api/tools.ts';
import { toPath, valueAt } from '../../../foundations/expression/index.ts';
import { invalidAt, type JsonValue, notFound, type ProjectId } from '../../../foundations/wire/index.ts';
import { type Call, compact, headerColumns, readCalls, rowOf, textOf } from './calls.ts';
import { runs, type ToolContext } from './context.ts';
import { cutter, gapTexts } from './cut.ts';
import { didYouMean } from './mend.ts';
import { fitted, isFields, type Json, type JsonFields } from './reply.ts';
import { valuesOf, wayTo } from './values.ts';

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
    columns: [...headerColumns(context.stores.calls.policy), ...columns],
    includes: { ...noIncludes, costs: true, feedback: columns.includes('summary') },
  });
  if (call) return call;
  throw notFound(['body', name], `there is no call ${id} in ${projectId}; query_calls finds calls`);
};

/** What a path leads to in a call. @throws ServiceError 422 with what was probably meant */
const valueAtPath = (call: Call, path: string): Json => {
  const { field, steps } = toPath(path);
  const value = valueAt(call[field] as JsonValue, steps) as Json | undefined;
  if (value !== undefined) return value;
  let [at, walked] = [call[field] as Json | undefined, field];
  for (const [i, step] of steps.entries()) {
    const next = valueAt(at as JsonValue, [step]) as Json | undefined;
    if (next === undefined) {
      const known = isFields(at) ? Object.keys(at) : [];
      const where = Array.isArray(at) ? `${walked} is a list of ${at.length}` : `there is no \`${path}\``;
      const rest = steps.slice(i + 1).map((each) => `.${each}`);
      const meant = known.map((name) => `${walked}.${name}${rest.join('')}`);
      throw invalidAt(['body', 'path'], `${where}${didYouMean(path, meant)}`);
    }
    [at, walked] = [next, `${walked}.${step}`];
  }
  throw invalidAt(['body', 'path'], `there is no \`${path}\``);
};

const sliceOf = (value: Json, from: number): Json =>
  typeof value === 'string' || Array.isArray(value) ? value.slice(from) : value;

/** One value of a call, from an offset on. */
const partOf = (
  value: Json,
  path: string,
  offset: number,
  head: JsonFields,
  maxCharacters: number,
): JsonFields => {
  const size = typeof value === 'string' || Array.isArray(value) ? value.length : undefined;
  if (offset > 0 && (size === undefined || offset >= size))
    throw invalidAt(
      ['body', 'offset'],
      size === undefined
        ? `${path} is neither a text nor a list`
        : `${path} has ${size} ${typeof value === 'string' ? 'characters' : 'items'}`,
    );
  const shape =
    size === undefined ? {} : { of: size, unit: typeof value === 'string' ? 'characters' : 'items' };
  const rest = sliceOf(value, offset);
  if (typeof rest === 'string')
    return fitted(maxCharacters, Math.min(rest.length, maxCharacters), (length) => {
      const text = rest.slice(0, length);
      const isAll = length >= rest.length;
      return {
        ...head,
        ...{ path, offset, ...shape, value: isAll ? text : text.toWellFormed() },
        ...(!isAll && {
          next_offset: offset + length,
          missing: [`the rest: get_call with path ${path} and offset ${offset + length}`],
        }),
      };
    });
  const cut = cutter();
  if (Array.isArray(rest)) {
    const whole = (count: number): JsonFields => ({
      ...head,
      ...{ path, offset, ...shape, value: rest.slice(0, count) },
      ...(count < rest.length && {
        next_offset: offset + count,
        missing: [`the rest: get_call with path ${path} and offset ${offset + count}`],
      }),
    });
    const reply = fitted(maxCharacters, Math.min(rest.length, maxCharacters), whole);
    // The first item alone may be too long.
    if (rest.length === 0 || (Array.isArray(reply.value) && reply.value.length > 0)) return reply;
    return fitted(maxCharacters, maxCharacters, (room) => {
      const { value: item, gaps } = cut(rest[0] ?? null, room, `${path}.${offset}`);
      return {
        ...head,
        ...{ path, offset, ...shape, value: [item], ...(rest.length > 1 && { next_offset: offset + 1 }) },
        missing: gapTexts(gaps, (gap) => wayTo(gap)),
      };
    });
  }
  return fitted(maxCharacters, maxCharacters, (room) => {
    const { value: shown, gaps } = cut(rest, room, path);
    return {
      ...head,
      ...{ path, value: shown },
      ...(gaps.length > 0 && {
        missing: gapTexts(gaps, (gap) => wayTo(gap)),
      }),
    };
  });
};

export const getCall = runs(description, async (args, context) => {
  const { projectId, callId, columns, path, offset, maxCharacters } = args;
  const { links, stores } = context;
  const { policy } = stores.calls;
  const asked = path === null ? (columns ?? usualColumns) : [toPath(path).field];
  const call = await readOne(context, projectId, callId, asked);
  const url = links.trace(projectId, textOf(call.trace_id) ?? '', callId);
  if (path !== null)
    return partOf(valueAtPath(call, path), path, offset, { call_id: callId, url }, maxCharacters);
  const about = {
    ...rowOf(call, policy),
    ...compact({
      ...{ trace_id: call.trace_id, parent_id: call.parent_id, thread_id: call.thread_id },
      ...{ turn_id: call.turn_id, ended_at: call.ended_at, user: call[policy.columns.userId] },
    }),
  };
  const fields = valuesOf(call, asked);
  const cut = cutter();
  return fitted(maxCharacters, maxCharacters, (room) => {
    const { value, gaps } = cut(fields, room, '');
    return {
      call: { ...about, ...(isFields(value) && value) },
      url,
      ...(gaps.length > 0 && { missing: gapTexts(gaps, (gap) => wayTo(gap)) }),
    };
  });
});
