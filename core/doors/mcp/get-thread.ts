import { everyCall } from '../../../api/queries.ts';
import { getThread as description } from '../../../api/tools.ts';
import { compare, type Expression, toPath } from '../../../foundations/expression/index.ts';
import { asString, notFound } from '../../../foundations/wire/index.ts';
import { type Call, compact, newestFirst, readCalls, toRow } from './calls.ts';
import { runs } from './context.ts';
import { cutter, type Gap } from './cut.ts';
import { toWord } from './mend.ts';
import { whatIs } from './near.ts';
import { goesOn, parseCursor } from './range.ts';
import { fitted, type Json, toMissing } from './reply.ts';
import { answeredIn, askedIn } from './said.ts';
import { listColumns, traceFigures } from './traces.ts';
import { roomPerCall, valueIn } from './values.ts';

const toField = (name: string): Expression => ({ kind: 'field', path: toPath(name) });

/** Turns, and the roots of traces that name no turn. */
const isTurn: Expression = {
  kind: 'or',
  operands: [
    { kind: 'compare', operator: '$eq', left: toField('turn_id'), right: toField('id') },
    { kind: 'and', operands: [compare('parent_id', '$eq', null), compare('turn_id', '$eq', null)] },
  ],
};

/** How many turns are read at once. */
const mostTurns = 60;

export const getThread = runs(description, async (args, context) => {
  const { projectId, threadId, limit, cursor, maxCharacters } = args;
  const { links } = context;
  const offset = cursor === null ? 0 : parseCursor(cursor).offset;
  const most = Math.min(limit, mostTurns);
  const room = roomPerCall(maxCharacters, most);
  const query = {
    projectId,
    filter: { ...everyCall, threadIds: [threadId] },
    sort: newestFirst,
    offset,
    limit: most + 1,
  };
  // Where no call is a turn, each root is one, and where there is no root, each call.
  const ways = [isTurn, compare('parent_id', '$eq', null), null];
  let where: Expression | null = isTurn;
  for (const way of ways) {
    const [first] = await readCalls(context, { ...query, where: way, offset: 0, limit: 1, columns: [] });
    where = way;
    if (first) break;
  }
  const found = await readCalls(
    context,
    { ...query, where, columns: [...listColumns, 'inputs', 'output', 'exception'] },
    (call) => {
      const cut = cutter();
      const part = (value: Json | undefined, path: string) =>
        value === undefined ? undefined : cut(value, Math.max(room, 600), path);
      const messages = {
        asked: part(askedIn(call), 'inputs'),
        answered: part(answeredIn(call), 'output'),
        exception: call.exception === null ? undefined : part(call.exception, 'exception'),
      };
      const rest: Call = { ...call, inputs: null, output: null, exception: null };
      return { call: rest, messages };
    },
  );
  if (found.length === 0) {
    if (offset > 0) throw notFound(['body', 'cursor'], 'there are no earlier turns');
    const way =
      (await whatIs(context, projectId, threadId)) || '; query_calls answers the thread_id of calls';
    throw notFound(['body', 'thread_id'], `there is no thread ${threadId} in ${projectId}${way}`);
  }
  const turns = found.slice(0, most);
  const figures = await traceFigures(
    context,
    projectId,
    turns.map(({ call }) => call),
  );
  // The last turns are kept, and shown in order of time.
  return fitted(maxCharacters, turns.length, (count) => {
    const shown = turns.slice(0, count).toReversed();
    const gaps = shown.flatMap(({ call, messages }) =>
      Object.values(messages).flatMap((part) =>
        (part?.gaps ?? []).map((gap): [string, Gap] => [asString(call.id) ?? '', gap]),
      ),
    );
    const rest = found.length > count;
    const place = { start: null, end: null, offset };
    const { missing: earlier = [], ...more } = rest
      ? goesOn('earlier turns: get_thread with the cursor', count, place)
      : {};
    const missing = [
      ...earlier,
      ...gaps
        .slice(0, 5)
        .map(
          ([id, { path, of }]) =>
            `${toWord(path)} of ${toWord(id)} was cut, of ${of} characters: get_call of ${toWord(id)} with path ${toWord(path)}`,
        ),
      ...(gaps.length > 5 ? [`${gaps.length - 5} more texts were cut; each ends in …`] : []),
    ];
    return {
      thread_id: threadId,
      turns: shown.map(({ call, messages }) => {
        const { input: _in, output: _out, id, ...row } = toRow(call);
        return compact({
          call_id: id,
          trace_id: call.trace_id === id ? undefined : call.trace_id,
          ...row,
          end_user: valueIn(call, 'attributes.user.id'),
          asked: messages.asked?.value,
          answered: messages.answered?.value,
          exception: messages.exception?.value,
          trace: figures.get(asString(call.id) ?? ''),
        });
      }),
      url: links.thread(projectId, threadId),
      ...toMissing(missing),
      ...more,
    };
  });
});
