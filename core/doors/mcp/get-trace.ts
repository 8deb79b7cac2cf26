import { everyCall } from '../../../api/queries.ts';
import { getTrace as description } from '../../../api/tools.ts';
import { asString, invalidAt, notFound, type ProjectId, parseTime } from '../../../foundations/wire/index.ts';
import {
  type Call,
  compact,
  getServiceSummary,
  headerColumns,
  readCalls,
  saying,
  sumUsed,
  toColumns,
  toFields,
  toRow,
  toTable,
  type Used,
  usedBy,
  usedFields,
} from './calls.ts';
import { runs, type ToolContext } from './context.ts';
import { type Gap, gapTexts, wayTo } from './cut.ts';
import { readOne } from './get-call.ts';
import { toWord } from './mend.ts';
import { whatIs } from './near.ts';
import { goesOn, parseCursor } from './range.ts';
import { fitted, type Json, type JsonFields, toMissing } from './reply.ts';
import { cutValues, mostRows, roomPerCall } from './values.ts';

/** A call in the tree of its trace. */
interface Node {
  readonly call: Call;
  readonly id: string;
  readonly depth: number;
  readonly parent: Node | undefined;
  readonly children: Node[];
  readonly used: Used | null;
  readonly failed: boolean;
  /** Of the call and all below it. */
  readonly all: { calls: number; errors: number };
}

/**
 * The tree of calls, which come in order of time, as a list in its order. Calls whose parent is not
 * among them are roots. No depth is too deep for it.
 *
 * @param until what failed later has not failed yet, so that the order stays as it was then
 */
const toTree = (calls: readonly Call[], top: string | null, until = Number.POSITIVE_INFINITY): Node[] => {
  const ids = new Set(calls.map(({ id }) => id));
  const children = Map.groupBy(calls, ({ parent_id }) => (ids.has(parent_id) ? parent_id : null));
  const tops = top === null ? (children.get(null) ?? []) : calls.filter(({ id }) => id === top);
  const nodes: Node[] = [];
  const met = new Set<unknown>();
  const stack = tops.toReversed().map((call) => ({ call, parent: undefined as Node | undefined }));
  for (let next = stack.pop(); next; next = stack.pop()) {
    const { call, parent } = next;
    if (met.has(call.id)) continue;
    met.add(call.id);
    const failed = getServiceSummary(call).status === 'error' && timeOf(call.ended_at) <= until;
    const node: Node = {
      call,
      id: asString(call.id) ?? '',
      parent,
      children: [],
      failed,
      used: usedBy(call),
      depth: parent ? parent.depth + 1 : 0,
      all: { calls: 1, errors: failed ? 1 : 0 },
    };
    parent?.children.push(node);
    nodes.push(node);
    for (const child of (children.get(call.id) ?? []).toReversed()) stack.push({ call: child, parent: node });
  }
  for (const { parent, all } of nodes.toReversed()) {
    if (!parent) continue;
    parent.all.calls += all.calls;
    parent.all.errors += all.errors;
  }
  return nodes;
};

/** How many failures are shown before what is near the root. */
const maxFailures = 20;

/**
 * The calls of a tree, those that matter most first: the roots, what failed first of all with the
 * calls above it, and then level by level. Every call comes after its parent.
 */
const byImportance = (nodes: readonly Node[]): Node[] => {
  const chosen = new Set<Node>(nodes.filter(({ parent }) => !parent).slice(0, 1));
  const causes = nodes.filter(({ failed, all }) => failed && all.errors === 1);
  for (const cause of causes.slice(0, maxFailures)) {
    const above: Node[] = [];
    for (let at: Node | undefined = cause; at && !chosen.has(at); at = at.parent) above.push(at);
    for (const node of above.toReversed()) chosen.add(node);
  }
  for (const node of nodes.toSorted((a, b) => a.depth - b.depth)) chosen.add(node);
  return [...chosen];
};

const timeOf = (time: Json | undefined): number => parseTime(asString(time) ?? '') ?? 0;
const getStart = ({ call }: Node): number => timeOf(call.started_at);

/** What is left out below a call: how many, how many of them failed, and what they are called. */
const foldedBelow = (node: Node, shown: ReadonlySet<Node>): JsonFields | undefined => {
  const folded = node.children.filter((child) => !shown.has(child));
  if (folded.length === 0) return undefined;
  const names = Map.groupBy(folded, ({ call }) => asString(call.op_name) ?? '');
  const common = [...names].sort(([, a], [, b]) => b.length - a.length).slice(0, 3);
  const errors = folded.reduce((sum, { all }) => sum + all.errors, 0);
  return {
    calls: folded.reduce((sum, { all }) => sum + all.calls, 0),
    ...(errors > 0 && { errors }),
    op_names: Object.fromEntries(common.map(([name, nodes]) => [name, nodes.length])),
  };
};

/**
 * Calls in full, as many as fit, without their tree.
 *
 * @param after what to do for the calls after the first so many
 */
const inFull = async (
  context: ToolContext,
  projectId: ProjectId,
  ids: readonly string[],
  columns: readonly string[],
  maxCharacters: number,
  after: (count: number) => JsonFields,
): Promise<JsonFields> => {
  const { links } = context;
  const room = roomPerCall(maxCharacters, ids.length);
  const places = new Map(ids.map((id, i) => [id, i]));
  const inAnyOrder = await readCalls(
    context,
    {
      projectId,
      filter: { ...everyCall, callIds: [...ids] },
      columns: [...headerColumns, ...columns],
    },
    (call) => {
      const { value, gaps } = cutValues(call, columns, room);
      const id = asString(call.id) ?? '';
      const row = compact({ ...toRow(call), trace_id: call.trace_id, parent_id: call.parent_id });
      return { id, gaps, row: { ...row, ...toFields(value) } };
    },
  );
  const found = inAnyOrder.toSorted((a, b) => (places.get(a.id) ?? 0) - (places.get(b.id) ?? 0));
  const unknown = ids.filter((id) => !found.some((call) => call.id === id));
  return fitted(maxCharacters, found.length, (count) => {
    const shown = found.slice(0, count);
    const gaps = shown.flatMap(({ id, gaps: callGaps }) => callGaps.map((gap): [string, Gap] => [id, gap]));
    const ofGap = new Map(gaps.map(([id, gap]) => [gap, id]));
    const { missing: rest = [], ...more } = after(count);
    const missing = [
      ...(unknown.length > 0 ? [`there are no calls ${unknown.slice(0, 5).join(', ')}`] : []),
      ...(rest as readonly string[]),
      ...gapTexts(gaps.map(([, gap]) => gap).slice(0, 100), {
        get: (gap) => wayTo(gap, ofGap.get(gap)),
        most: 5,
      }),
    ];
    return {
      calls: shown.map(({ row }) => row),
      url_of_call: links.anyCall(projectId),
      ...toMissing(missing),
      ...more,
    };
  });
};

const firstPage = { offset: 0, start: null, end: null };

const fullColumns = ['inputs', 'output', 'exception'];

/** How many calls are read in full at once. */
const mostInFull = 200;

/** What rows of a tree say of each call. */
const treeColumns = [
  'depth',
  'id',
  'op_name',
  'name',
  'kind',
  'tool',
  'agent',
  'after_ms',
  'ms',
  'status',
  'waited_ms',
  'waiting',
  'models',
  'tokens_in',
  'tokens_out',
  'cost_usd',
  'input_preview',
  'output_preview',
  'folded',
];

/** What is left out below a call, in words. */
const foldedText = ({ calls, errors, op_names }: JsonFields): string =>
  `${calls} calls${errors === undefined ? '' : `, ${errors} failed`}: ${Object.entries(toFields(op_names))
    .map(([name, count]) => `${count} × ${toWord(name)}`)
    .join(', ')}`;

/** The characters of an error in an outline. */
const maxError = 120;

/** A call in one line: how deep it is, its id, what it is, how long it took, and what it used. */
const toLine = (row: JsonFields): string => {
  const { depth, id, op_name, name, tool, kind, ms, tokens_in, tokens_out, cost_usd, status } = row;
  const isUsual = status === 'success' || status === 'descendant_error';
  return [
    depth,
    toWord(String(id)),
    toWord(String(tool ?? name ?? op_name)),
    kind !== undefined && toWord(String(kind)),
    ms !== undefined && `${ms}ms`,
    tokens_in !== undefined && `${tokens_in}>${tokens_out}`,
    cost_usd !== undefined && `$${cost_usd}`,
    row.folded !== undefined && `(+ ${row.folded})`,
    !isUsual && status,
    // What a call says of its failure is last, so that nothing seems to come after it.
    status === 'error' &&
      JSON.stringify(
        String(row.output_preview ?? '')
          .slice(0, maxError)
          .toWellFormed(),
      ),
  ]
    .filter((part) => part !== false && part !== undefined)
    .join(' ');
};

const outlineHead = 'depth id name kind duration tokens_in>tokens_out cost (+ calls below) status error';

export const getTrace = runs(description, async (args, context) => {
  const { projectId, traceId, callId, callIds, columns, outline, cursor, maxCharacters } = args;
  const { links } = context;
  if (callIds !== null)
    return inFull(context, projectId, callIds, columns ?? fullColumns, maxCharacters, (count) => {
      const rest = callIds.slice(count);
      return rest.length === 0
        ? {}
        : { missing: [`${rest.length} calls: get_trace with the call_ids from ${rest[0]} on`] };
    });
  const trace = traceId ?? asString((await readOne(context, projectId, callId ?? '', [])).trace_id) ?? '';
  const all = await readCalls(context, {
    projectId,
    filter: { ...everyCall, traceIds: [trace] },
    columns: [...headerColumns],
  });
  // Pages after the first are of the calls that it knew, in the order that they had. A cursor has their
  // number where those of lists have a start.
  const { offset, start: known, end } = cursor === null ? firstPage : parseCursor(cursor);
  const until =
    end ?? Math.max(...all.flatMap((call) => [timeOf(call.started_at), timeOf(call.ended_at)]), 0);
  const calls = all.filter(({ started_at }) => timeOf(started_at) <= until);
  const nodes = toTree(calls, callId, until);
  const [first] = nodes;
  if (!first) {
    const what = callId === null ? `trace ${trace}` : `call ${callId} in the trace ${trace}`;
    const way = (await whatIs(context, projectId, callId ?? trace)) || '; query_calls finds traces';
    throw notFound(['body', callId === null ? 'trace_id' : 'call_id'], `there is no ${what}${way}`);
  }
  const place = { start: known ?? calls.length, end: until, offset };
  const notes = [
    ...(all.length > calls.length
      ? [`${all.length - calls.length} calls have started since the first page: get_trace anew`]
      : []),
    ...(known !== null && known !== calls.length
      ? ['earlier calls were reported or deleted since the first page: begin anew without the cursor']
      : []),
  ];
  const ordered = byImportance(nodes);
  const important = ordered.slice(offset, offset + mostRows(maxCharacters) * (outline ? 4 : 1));
  if (important.length === 0)
    throw invalidAt(['body', 'cursor'], 'leads to nothing: there are no more calls');
  if (columns !== null) {
    const ids = important.map(({ id }) => id).slice(0, mostInFull);
    return inFull(context, projectId, ids, columns, maxCharacters, (count) => {
      const hidden = ordered.length - offset - count;
      if (hidden <= 0) return {};
      return goesOn(`${hidden} of ${nodes.length} calls: get_trace with the cursor`, count, place);
    });
  }
  // An outline says in words what failed, and nothing else.
  const previewed = outline ? important.filter(({ failed }) => failed).slice(0, maxFailures) : important;
  const previews = new Map(
    await readCalls(
      context,
      {
        projectId,
        filter: { ...everyCall, callIds: previewed.map(({ id }) => id) },
        columns: ['preview'],
      },
      ({ id, preview }): [unknown, JsonFields] => [id, toFields(preview)],
    ),
  );
  const began = getStart(first);
  const totals = compact({
    calls: nodes.length,
    errors: nodes.filter(({ failed }) => failed).length,
    started_at: first.call.started_at,
    ms: getServiceSummary(first.call).latency_ms,
    thread_id: first.call.thread_id,
    ...usedFields(sumUsed(nodes.map(({ used }) => used))),
  });
  return fitted(maxCharacters, important.length, (count) => {
    const shown = new Set(important.slice(0, count));
    const before = new Set(ordered.slice(0, offset + shown.size));
    const rows = nodes
      .filter((node) => shown.has(node))
      .map((node) => {
        const folded = foldedBelow(node, before);
        return compact({
          ...toColumns({ ...node.call, preview: previews.get(node.id) }),
          depth: node.depth,
          after_ms: Math.round((getStart(node) - began) / 1000),
          folded: folded && foldedText(folded),
        });
      });
    const hidden = nodes.length - before.size;
    return {
      ...(notes.length > 0 && { notes }),
      trace_id: trace,
      totals,
      ...(outline
        ? { outline: [outlineHead, ...rows.map(toLine)].join('\n') }
        : { calls: toTable(rows, saying(treeColumns, rows)) }),
      url_of_call: links.anyCall(projectId, trace),
      ...(hidden > 0 &&
        goesOn(
          `${hidden} of ${nodes.length} calls: get_trace with the cursor${largestFolded(shown, before)}`,
          shown.size,
          place,
        )),
    };
  });
});

/** The call with most that is left out below it: another way to what a reply has not shown. */
const largestFolded = (shown: ReadonlySet<Node>, before: ReadonlySet<Node>): string => {
  const below = (node: Node): number =>
    node.children.reduce((sum, child) => sum + (before.has(child) ? 0 : child.all.calls), 0);
  const [largest] = [...shown]
    .filter(({ parent }) => parent)
    .map((node) => ({ node, hidden: below(node) }))
    .filter(({ hidden }) => hidden > 0)
    .sort((a, b) => b.hidden - a.hidden);
  return largest ? `, or with call_id ${toWord(largest.node.id)} the ${largest.hidden} below it` : '';
};
