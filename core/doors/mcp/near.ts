import { type CallsFilter, everyCall } from '../../../api/queries.ts';
import { isHeaderPath } from '../../../api/shared/header-fields.ts';
import { conjuncts, type Expression, type FieldPath } from '../../../foundations/expression/index.ts';
import { asString, invalidAt, type ProjectId } from '../../../foundations/wire/index.ts';
import { type Call, readCalls } from './calls.ts';
import type { ToolContext } from './context.ts';
import { toWord } from './mend.ts';
import { type Range, within } from './range.ts';

/*
 * What is nearly what a request asks for: ids of something else, texts in other letters or inside of others,
 * numbers written as text.
 */

/** Whose calls, and which. */
export interface Asked {
  readonly projectId: ProjectId;
  readonly filter: CallsFilter;
  readonly where: Expression | null;
  readonly range: Range;
  /** Whether the calls below a root decide its status. @default false */
  readonly knowsTraces?: boolean;
}

type IdList = 'callIds' | 'traceIds' | 'threadIds' | 'parentIds' | 'turnIds';

const firstOf = async (
  context: ToolContext,
  projectId: ProjectId,
  filter: Partial<CallsFilter>,
): Promise<Call | undefined> => {
  const query = {
    projectId,
    filter: { ...everyCall, ...filter },
    limit: 1,
    columns: ['trace_id', 'started_at'],
  };
  return (await readCalls(context, query))[0];
};

/** What an id is of, in words, if it is of a call, a trace or a thread. */
export const whatIs = async (context: ToolContext, projectId: ProjectId, id: string): Promise<string> => {
  const call = await firstOf(context, projectId, { callIds: [id] });
  if (call) return `; it is a call, of the trace ${toWord(asString(call.trace_id) ?? '')}`;
  if (await firstOf(context, projectId, { traceIds: [id] }))
    return '; it is a trace: get_trace with trace_id';
  if (await firstOf(context, projectId, { threadIds: [id] }))
    return '; it is a thread: get_thread with thread_id';
  return '';
};

/** The lists of a filter that name something, as requests call them, and what is in each. */
const idLists: readonly (readonly [list: IdList, name: string, what: string])[] = [
  ['callIds', 'call_ids', 'call'],
  ['traceIds', 'trace_ids', 'trace'],
  ['threadIds', 'thread_ids', 'thread'],
  ['parentIds', 'parent_ids', 'call with calls below it'],
  ['turnIds', 'turn_ids', 'turn'],
];
const listsByField: Readonly<Record<string, IdList>> = {
  id: 'callIds',
  trace_id: 'traceIds',
  thread_id: 'threadIds',
  parent_id: 'parentIds',
  turn_id: 'turnIds',
};

/** So many ids are looked up. */
const maxChecked = 5;

/** The ids that an expression wants fields of calls to equal. */
const wantedIds = (where: Expression): (readonly [IdList, string])[] =>
  conjuncts(where).flatMap((each) => {
    if (each.kind !== 'compare' || each.operator !== '$eq') return [];
    const { left, right } = each;
    const list = left.kind === 'field' ? listsByField[left.path.text] : undefined;
    return list && right.kind === 'literal' && typeof right.value === 'string' ? [[list, right.value]] : [];
  });

/**
 * Refuses ids that nothing has, where nothing was found.
 *
 * @throws ServiceError 422 with what the id is of, if it is of something else
 */
export const checkIds = async (
  context: ToolContext,
  { projectId, filter, where }: Pick<Asked, 'projectId' | 'filter' | 'where'>,
): Promise<void> => {
  const inQuery = where ? wantedIds(where) : [];
  for (const [list, name, what] of idLists) {
    const asked = [
      ...(filter[list] ?? []).map((id, i) => [id, ['body', 'filter', name, String(i)]] as const),
      ...inQuery.filter(([wanted]) => wanted === list).map(([, id]) => [id, ['body', 'query']] as const),
    ];
    for (const [id, place] of asked.slice(0, maxChecked)) {
      if (await firstOf(context, projectId, { [list]: [id] })) continue;
      throw invalidAt([...place], `there is no ${what} \`${id}\`${await whatIs(context, projectId, id)}`);
    }
  }
};

/** Whether a text is compared with a field that statistics know the values of, or with an id. */
const isName = ({ text }: FieldPath): boolean =>
  text in listsByField ||
  text === 'op_name' ||
  text === 'display_name' ||
  text === 'svc_user_id' ||
  (isHeaderPath(text) && text.startsWith('attributes.'));

const isNumeric = (text: string): boolean => text.trim() !== '' && Number.isFinite(Number(text));

/**
 * An expression that holds of more: whose texts may be inside of others and in other letters, and whose
 * numbers may be written as text.
 *
 * @param changes takes what was changed, in words
 */
const loosened = (at: Expression, changes: string[]): Expression => {
  switch (at.kind) {
    case 'and':
    case 'or':
      return { ...at, operands: at.operands.map((operand) => loosened(operand, changes)) };
    case 'contains': {
      if (at.caseInsensitive || at.input.kind !== 'field' || at.substr.kind !== 'literal') return at;
      changes.push(`\`${at.input.path.text}\` is searched with "case_insensitive": true`);
      return { ...at, input: { kind: 'convert', input: at.input, to: 'string' }, caseInsensitive: true };
    }
    case 'compare': {
      const { left, right, operator } = at;
      if (left.kind !== 'field' || right.kind !== 'literal' || typeof right.value !== 'string') return at;
      if (isName(left.path) || left.path.field.endsWith('_at')) return at;
      if (operator !== '$eq') {
        if (operator === '$ne' || !isNumeric(right.value)) return at;
        changes.push(`\`${left.path.text}\` is compared with the number ${right.value}`);
        const value = { kind: 'literal', value: Number(right.value) } as const;
        return { ...at, left: { kind: 'convert', input: left, to: 'double' }, right: value };
      }
      const contains = {
        input: { $getField: left.path.text },
        substr: { $literal: right.value.slice(0, 200) },
        case_insensitive: true,
      };
      changes.push(`\`${left.path.text}\` is searched: ${JSON.stringify({ $contains: contains })}`);
      return {
        kind: 'contains',
        input: { kind: 'convert', input: left, to: 'string' },
        substr: right,
        caseInsensitive: true,
      };
    }
    default:
      return at;
  }
};

/** Says that there are calls which nearly match where none does. */
export const nearMisses = async (
  context: ToolContext,
  { projectId, filter, range }: Asked,
  where: Expression,
): Promise<string[]> => {
  const changes: string[] = [];
  const wider = loosened(where, changes);
  if (changes.length === 0) return [];
  const query = { projectId, filter, where: within(range, wider), limit: 1, columns: [] };
  const [near] = await readCalls(context, query);
  return near
    ? [
        `no call is exactly so; there are some, such as ${toWord(String(near.id))}, if ${changes.join(', and ')}`,
      ]
    : [];
};
