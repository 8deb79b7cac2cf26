import { everyCall } from '../../../api/queries.ts';
import { getTrace as description } from '../../../api/tools.ts';
import { asString, notFound, type ProjectId, parseTime } from '../../../foundations/wire/index.ts';
import {
  type Call,
  compact,
  getServiceSummary,
  headerColumns,
  readCalls,
  sumUsed,
  toFields,
  toRow,
  type Used,
  usedBy,
  usedFields,
} from './calls.ts';
import { runs, type ToolContext } from './context.ts';
import { type Gap, gapTexts, wayTo } from './cut.ts';
import { readOne } from './get-call.ts';
import { fitted, type JsonFields, toMissing } from './reply.ts';
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
 */
const toTree = (calls: readonly Call[], top: string | null): Node[] => {
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
    const failed = getServiceSummary(call).status === 'error';
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

const getStart = ({ call }: Node): number => parseTime(asString(call.started_at) ?? '') ?? 0;

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

/** Calls in full, as many as fit, without their tree. */
const inFull = async (
  context: ToolContext,
  projectId: ProjectId,
  ids: readonly string[],
  columns: readonly string[],
  maxCharacters: number,
): Promise<JsonFields> => {
  const { links } = context;
  const room = roomPerCall(maxCharacters, ids.length);
  const found = await readCalls(
    context,
    {
      projectId,
      filter: { ...everyCall, callIds: [...ids] },
      columns: [...headerColumns, ...columns],
    },
    (call) => {
      const { value, gaps } = cutValues(call, columns, room);
      const id = asString(call.id) ?? '';
      const trace = asString(call.trace_id) ?? '';
      const row = compact({ ...toRow(call), trace_id: trace, parent_id: call.parent_id });
      return { id, gaps, row: { ...row, ...toFields(value), url: links.trace(projectId, trace, id) } };
    },
  );
  const unknown = ids.filter((id) => !found.some((call) => call.id === id));
  return fitted(maxCharacters, found.length, (count) => {
    const shown = found.slice(0, count);
    const gaps = shown.flatMap(({ id, gaps: callGaps }) => callGaps.map((gap): [string, Gap] => [id, gap]));
    const ofGap = new Map(gaps.map(([id, gap]) => [gap, id]));
    const rest = found.slice(count).map(({ id }) => id);
    const missing = [
      ...(unknown.length > 0 ? [`there are no calls ${unknown.slice(0, 5).join(', ')}`] : []),
      ...(rest.length > 0 ? [`${rest.length} calls: get_trace with the call_ids from ${rest[0]} on`] : []),
      ...gapTexts(gaps.map(([, gap]) => gap).slice(0, 100), (gap) => wayTo(gap, ofGap.get(gap))).slice(0, 5),
    ];
    return {
      calls: shown.map(({ row }) => row),
      url: links.project(projectId),
      ...toMissing(missing),
    };
  });
};

const fullColumns = ['inputs', 'output', 'exception'];

export const getTrace = runs(description, async (args, context) => {
  const { projectId, traceId, callId, callIds, columns, maxCharacters } = args;
  const { links } = context;
  if (callIds !== null) return inFull(context, projectId, callIds, columns ?? fullColumns, maxCharacters);
  const trace = traceId ?? asString((await readOne(context, projectId, callId ?? '', [])).trace_id) ?? '';
  const calls = await readCalls(context, {
    projectId,
    filter: { ...everyCall, traceIds: [trace] },
    columns: [...headerColumns],
  });
  const nodes = toTree(calls, callId);
  const [first] = nodes;
  if (!first) {
    const what = callId === null ? `trace ${trace}` : `call ${callId} in the trace ${trace}`;
    throw notFound(
      ['body', callId === null ? 'trace_id' : 'call_id'],
      `there is no ${what}; query_calls finds traces`,
    );
  }
  const important = byImportance(nodes).slice(0, mostRows(maxCharacters));
  if (columns !== null) {
    const ids = new Set(important.map(({ id }) => id));
    const inOrder = nodes.filter(({ id }) => ids.has(id)).map(({ id }) => id);
    const full = await inFull(context, projectId, inOrder.slice(0, 200), columns, maxCharacters);
    return { ...full, url: links.trace(projectId, trace, callId ?? undefined) };
  }
  const previews = new Map(
    await readCalls(
      context,
      {
        projectId,
        filter: { ...everyCall, callIds: important.map(({ id }) => id) },
        columns: ['preview'],
      },
      ({ id, preview }): [unknown, JsonFields] => [id, toFields(preview)],
    ),
  );
  const began = getStart(first);
  const totals = compact({
    calls: nodes.length,
    errors: nodes.filter(({ failed }) => failed).length,
    ms: getServiceSummary(first.call).latency_ms,
    ...usedFields(sumUsed(nodes.map(({ used }) => used))),
  });
  return fitted(maxCharacters, important.length, (count) => {
    const shown = new Set(important.slice(0, count));
    const rows = nodes
      .filter((node) => shown.has(node))
      .map((node) => {
        const { started_at, ...row } = toRow({ ...node.call, preview: previews.get(node.id) });
        return compact({
          depth: node.depth,
          ...row,
          ...(node.parent ? { after_ms: Math.round((getStart(node) - began) / 1000) } : { started_at }),
          folded: foldedBelow(node, shown),
        });
      });
    const hidden = nodes.length - shown.size;
    return {
      trace_id: trace,
      totals,
      calls: rows,
      url: links.trace(projectId, trace, callId ?? undefined),
      url_of_call: links.trace(projectId, trace, '{id}'),
      ...(hidden > 0 && {
        missing: [`${hidden} of ${nodes.length} calls: get_trace with the call_id of a call that has folded`],
      }),
    };
  });
});
