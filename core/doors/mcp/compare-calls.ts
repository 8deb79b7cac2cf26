import { everyCall } from '../../../api/queries.ts';
import { compareCalls as description } from '../../../api/tools.ts';
import {
  asString,
  invalidAt,
  type ProjectId,
  parseRef,
  refScheme,
  storedRef,
} from '../../../foundations/wire/index.ts';
import {
  type Call,
  compact,
  getServiceSummary,
  headerColumns,
  readCalls,
  saying,
  sumUsed,
  toRow,
  toTable,
  usedBy,
  usedFields,
} from './calls.ts';
import { checkProject, runs, type ToolContext } from './context.ts';
import { cutter, type Gap, gapTexts, wayTo } from './cut.ts';
import { readOne } from './get-call.ts';
import { toWord } from './mend.ts';
import { fitted, isFields, type Json, type JsonFields, toMissing } from './reply.ts';
import { instructedIn } from './said.ts';
import { valueIn } from './values.ts';

/** A call by its id, or by its ref into any project that the key may read. */
const named = (context: ToolContext, projectId: ProjectId, text: string, name: 'a' | 'b') => {
  if (!storedRef(text).startsWith(refScheme)) return { projectId, id: text };
  const ref = parseRef(text);
  if (ref?.kind !== 'call') throw invalidAt(['body', name], 'should be a call ref or the id of a call');
  checkProject(context, ref.projectId, 'read');
  return { projectId: ref.projectId, id: ref.callId };
};

/** A place at which two values differ. */
interface Difference {
  readonly path: string;
  readonly a: Json | undefined;
  readonly b: Json | undefined;
}

/** The most differences that are looked for. */
const maxDifferences = 500;

/** Every place at which two values differ, as deep as both have the same shape. */
const findDifferences = (a: Json | undefined, b: Json | undefined, path: string): Difference[] => {
  const found: Difference[] = [];
  const stack: Difference[] = [{ path, a, b }];
  for (let next = stack.pop(); next && found.length < maxDifferences; next = stack.pop()) {
    const { a: left, b: right, path: at } = next;
    if (left === right) continue;
    const both =
      (Array.isArray(left) && Array.isArray(right)) || (isFields(left) && isFields(right))
        ? [...new Set([...Object.keys(left), ...Object.keys(right)])]
        : undefined;
    if (!both) {
      found.push(next);
      continue;
    }
    const [leftFields, rightFields] = [left, right] as readonly Record<string, Json>[];
    for (const key of both.toReversed())
      stack.push({ path: `${at}.${key}`, a: leftFields?.[key], b: rightFields?.[key] });
  }
  return found;
};

/** Characters that are shown before the first that differs. */
const lead = 60;

/** Two long texts from shortly before the first character in which they differ. */
const fromDifference = ({ path, a, b }: Difference): JsonFields => {
  if (typeof a !== 'string' || typeof b !== 'string' || Math.min(a.length, b.length) < 2 * lead)
    return { path, ...(a !== undefined && { a }), ...(b !== undefined && { b }) };
  let same = 0;
  while (same < a.length && a[same] === b[same]) same++;
  const from = Math.max(0, same - lead);
  const shown = (text: string) => (from === 0 ? text : `…${text.slice(from).toWellFormed()}`);
  return { path, ...(from > 0 && { same_until: same }), a: shown(a), b: shown(b) };
};

const compared = ['attributes', 'inputs', 'output', 'exception'];

/** The operation of a call without its version. */
const nameOf = (call: Call): string =>
  asString(getServiceSummary(call).trace_name) ?? asString(call.op_name) ?? '';

/** The last request to a model in a trace: what it was asked is what led to the answer. */
const lastModel = (calls: readonly Call[]): string | undefined =>
  asString(calls.findLast((call) => valueIn(call, 'attributes.kind') === 'model' || usedBy(call))?.id) ??
  undefined;

/** What the traces of two roots consist of, operation by operation, and how to compare what models were asked. */
const traceTable = async (
  context: ToolContext,
  a: Call,
  b: Call,
  projects: readonly ProjectId[],
): Promise<{
  readonly operations: JsonFields;
  readonly notes: readonly string[];
  readonly missing: readonly string[];
}> => {
  const [left = [], right = []] = await Promise.all(
    [a, b].map(async (call, i) => {
      return await readCalls(context, {
        projectId: projects[i] as ProjectId,
        filter: { ...everyCall, traceIds: [asString(call.trace_id) ?? ''] },
        columns: [...headerColumns],
      });
    }),
  );
  const [ofLeft, ofRight] = [left, right].map((calls) => Map.groupBy(calls, nameOf));
  const figures = (calls: readonly Call[] = []): JsonFields =>
    compact({
      calls: calls.length,
      errors: calls.filter((call) => getServiceSummary(call).status === 'error').length || undefined,
      ms: calls.reduce((sum, call) => sum + Number(getServiceSummary(call).latency_ms ?? 0), 0),
      ...usedFields(sumUsed(calls.map((call) => usedBy(call)))),
    });
  const names = [...new Set([...(ofLeft?.keys() ?? []), ...(ofRight?.keys() ?? [])])].slice(0, 100);
  const columns = ['calls', 'errors', 'ms', 'tokens_in', 'tokens_out', 'cost_usd'];
  const rows = names.map((name) => {
    const ofA = figures(ofLeft?.get(name));
    const ofB = figures(ofRight?.get(name));
    const pairs = columns.flatMap((column) => [
      [`${column}_a`, ofA[column]],
      [`${column}_b`, ofB[column]],
    ]);
    return { name, ...Object.fromEntries(pairs) };
  });
  const all = ['name', ...columns.flatMap((column) => [`${column}_a`, `${column}_b`])];
  const models = [lastModel(left), lastModel(right)];
  return {
    operations: toTable(rows, saying(all, rows)),
    notes: await promptNotes(context, projects, left, right),
    missing: models.every((id) => id !== undefined)
      ? [
          `what the models were asked last: compare_calls with a ${toWord(`${models[0]}`)} and b ${toWord(`${models[1]}`)}`,
        ]
      : [],
  };
};

/** How many requests to models of each trace have their system prompts compared. */
const maxPrompts = 5;

/** Whose request to a model it is: the name of its prompt, else its operation and model. */
const promptOf = (call: Call): string =>
  asString(valueIn(call, 'attributes.prompt.name')) ||
  [nameOf(call), ...(usedBy(call)?.models ?? [])].join(' ');

/** Names the prompts that are not the same in two traces, each with the requests to compare. */
const promptNotes = async (
  context: ToolContext,
  projects: readonly ProjectId[],
  left: readonly Call[],
  right: readonly Call[],
): Promise<string[]> => {
  const lastOf = (calls: readonly Call[]) =>
    new Map(
      calls
        .filter((call) => valueIn(call, 'attributes.kind') === 'model' || usedBy(call))
        .map((call) => [promptOf(call), call]),
    );
  const others = lastOf(right);
  const pairs = [...lastOf(left)]
    .flatMap(([name, a]) => {
      const b = others.get(name);
      return b ? [{ name, a, b }] : [];
    })
    .slice(0, maxPrompts);
  if (pairs.length === 0) return [];
  const [ofLeft, ofRight] = await Promise.all(
    (['a', 'b'] as const).map(async (side, i) => {
      const query = {
        projectId: projects[i] as ProjectId,
        filter: { ...everyCall, callIds: pairs.flatMap((pair) => asString(pair[side].id) ?? []) },
        columns: ['inputs'],
      };
      return new Map(
        await readCalls(context, query, (call): [unknown, string | undefined] => [
          call.id,
          instructedIn(call),
        ]),
      );
    }),
  );
  return pairs.flatMap(({ name, a, b }) => {
    const [from, to] = [a, b].map((call) => asString(valueIn(call, 'attributes.prompt.version')));
    const what = [
      ...(from === to ? [] : [`version ${toWord(from ?? 'none')} in a and ${toWord(to ?? 'none')} in b`]),
      ...(ofLeft?.get(a.id) === ofRight?.get(b.id) ? [] : ['another system prompt']),
    ];
    if (what.length === 0) return [];
    return [
      `the prompt of ${toWord(name)} has ${what.join(', and ')}: compare_calls with a ${toWord(`${a.id}`)} and b ${toWord(`${b.id}`)}`,
    ];
  });
};

export const compareCalls = runs(description, async (args, context) => {
  const { projectId, maxCharacters } = args;
  const { links } = context;
  const names = { a: named(context, projectId, args.a, 'a'), b: named(context, projectId, args.b, 'b') };
  const reading = readOne(context, names.b.projectId, names.b.id, compared, 'b');
  // What is wrong with the second is told if the first is right.
  reading.catch(() => undefined);
  const a = await readOne(context, names.a.projectId, names.a.id, compared, 'a');
  const b = await reading;
  const areRoots = a.parent_id === null && b.parent_id === null && a.trace_id !== b.trace_id;
  const traces = areRoots
    ? await traceTable(context, a, b, [names.a.projectId, names.b.projectId])
    : undefined;
  const differences = compared
    .flatMap((field) => findDifferences(a[field], b[field], field))
    .map(fromDifference);
  const about = (call: Call): JsonFields => compact({ ...toRow(call), trace_id: call.trace_id });
  const cut = cutter();
  const most = Math.max(1, Math.floor(maxCharacters / 200));
  const head = {
    a: about(a),
    b: about(b),
    ...(traces && {
      operations: traces.operations,
      ...(traces.notes.length > 0 && { notes: traces.notes }),
    }),
  };
  const url = links.compare(projectId, names.a.id, names.b.id);
  return fitted(maxCharacters, maxCharacters, (room) => {
    const gaps: Gap[] = [];
    const idOf = new Map<Gap, string>();
    const share = Math.floor(room / Math.max(1, Math.min(differences.length, most)));
    const shown = differences.slice(0, most).map((difference) => {
      const { value, gaps: valueGaps } = cut(difference, share, '', true);
      for (const gap of valueGaps) {
        const [side = '', ...below] = gap.path.split('.');
        if (side !== 'a' && side !== 'b') continue;
        const whole = { ...gap, from: 0, path: [difference.path, ...below].join('.') };
        gaps.push(whole);
        idOf.set(whole, names[side].id);
      }
      return value;
    });
    const count = Math.min(shown.length, Math.floor(room / 60));
    const missing = [
      ...(traces?.missing ?? []),
      ...(differences.length > count
        ? [`${differences.length - count} more places differ: compare_calls with more max_characters`]
        : []),
      ...gapTexts(gaps, { most: 3, get: (gap) => wayTo(gap, idOf.get(gap)) }),
    ];
    return { ...head, differences: shown.slice(0, count), url, ...toMissing(missing) };
  });
});
