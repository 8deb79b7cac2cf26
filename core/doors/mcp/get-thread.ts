import { everyCall } from '../../../api/queries.ts';
import { getThread as description } from '../../../api/tools.ts';
import { compare, type Expression, toPath } from '../../../foundations/expression/index.ts';
import { notFound } from '../../../foundations/wire/index.ts';
import { type Call, compact, newestFirst, readCalls, rowOf, textOf } from './calls.ts';
import { runs } from './context.ts';
import { cutter, type Gap } from './cut.ts';
import { cursorOf, placeOf } from './range.ts';
import { fitted, type Json, missingOf } from './reply.ts';
import { answeredIn, askedIn } from './said.ts';
import { listColumns, traceFigures } from './traces.ts';
import { roomOf } from './values.ts';

const fieldOf = (name: string): Expression => ({ kind: 'field', path: toPath(name) });

/** Turns, and the roots of traces that name no turn. */
const isTurn: Expression = {
  kind: 'or',
  operands: [
    { kind: 'compare', operator: '$eq', left: fieldOf('turn_id'), right: fieldOf('id') },
    { kind: 'and', operands: [compare('parent_id', '$eq', null), compare('turn_id', '$eq', null)] },
  ],
};

/** How many turns are read at once. */
const mostTurns = 60;

export const getThread = runs(description, async (args, context) => {
  const { projectId, threadId, limit, cursor, maxCharacters } = args;
  const { links } = context;
  const offset = cursor === null ? 0 : placeOf(cursor).offset;
  const most = Math.min(limit, mostTurns);
  const room = roomOf(maxCharacters, most);
  const found = await readCalls(
    context,
    {
      ...{ projectId, filter: { ...everyCall, threadIds: [threadId] }, where: isTurn },
      ...{ sort: newestFirst, offset, limit: most + 1 },
      columns: [...[...listColumns], 'inputs', 'output', 'exception'],
    },
    (call) => {
      const cut = cutter();
      const part = (value: Json | undefined, path: string) =>
        value === undefined ? undefined : cut(value, Math.max(room, 600), path);
      const said = {
        asked: part(askedIn(call), 'inputs'),
        answered: part(answeredIn(call), 'output'),
        exception: call.exception === null ? undefined : part(call.exception, 'exception'),
      };
      const rest: Call = { ...call, inputs: null, output: null, exception: null };
      return { call: rest, said };
    },
  );
  if (found.length === 0)
    throw notFound(
      ['body', 'thread_id'],
      offset === 0
        ? `there is no thread ${threadId} in ${projectId}; query_calls answers the thread_id of calls`
        : 'there are no earlier turns',
    );
  const turns = found.slice(0, most);
  const figures = await traceFigures(
    context,
    projectId,
    turns.map(({ call }) => call),
  );
  // The last turns are kept, and shown in order of time.
  return fitted(maxCharacters, turns.length, (count) => {
    const shown = turns.slice(0, count).toReversed();
    const gaps = shown.flatMap(({ call, said }) =>
      Object.values(said).flatMap((part) =>
        (part?.gaps ?? []).map((gap): [string, Gap] => [textOf(call.id) ?? '', gap]),
      ),
    );
    const rest = found.length > count;
    const missing = [
      ...(rest ? [`earlier turns: get_thread with the cursor`] : []),
      ...gaps
        .slice(0, 5)
        .map(
          ([id, { path, of }]) =>
            `${path} of ${id} was cut, of ${of} characters: get_call of ${id} with path ${path}`,
        ),
      ...(gaps.length > 5 ? [`${gaps.length - 5} more texts were cut; each ends in …`] : []),
    ];
    return {
      thread_id: threadId,
      turns: shown.map(({ call, said }) => {
        const { input: _in, output: _out, id, ...row } = rowOf(call);
        return compact({
          ...{ call_id: id, trace_id: call.trace_id, ...row },
          ...{ asked: said.asked?.value, answered: said.answered?.value, exception: said.exception?.value },
          trace: figures.get(textOf(call.id) ?? ''),
          url: links.trace(projectId, textOf(call.trace_id) ?? '', textOf(call.id)),
        });
      }),
      url: links.thread(projectId, threadId),
      ...missingOf(missing),
      ...(rest && { next_cursor: cursorOf({ start: null, end: null, offset: offset + count }) }),
    };
  });
});
