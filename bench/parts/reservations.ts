/**
 * What reserved traces save: the children that their parents would not find without them, nor deletions.
 * Decision 0174 has the figures.
 */

import { callBatch } from '../../api/calls.ts';
import { toCallKey } from '../../core/records/calls/items.ts';
import { groupReports, type ReportedCall } from '../../core/records/calls/reports.ts';
import { resolveTraces } from '../../core/records/calls/traces.ts';
import { parseBodyJson, parseTolerantly } from '../../foundations/wire/schema.ts';
import type { BenchPart } from '../harness/bench.ts';
import type { Call } from '../harness/calls.ts';
import { counted, type Figure } from '../harness/figures.ts';
import { toStartItem } from '../harness/reporting.ts';

/** The sizes of batches. */
const sizes = [1, 10, 25, 100] as const;

const body = callBatch();

/** Calls as they end, so most before their parents, and without the trace that a client may leave out. */
const withoutTraces = (calls: readonly Call[]): ReportedCall[] => {
  const byEnd = calls.toSorted(
    (a, b) => Date.parse(String(a.end.ended_at)) - Date.parse(String(b.end.ended_at)),
  );
  const batch = byEnd.map(({ start, end }) => toStartItem({ start: { ...start, trace_id: null }, end }));
  return groupReports(parseTolerantly(body, parseBodyJson(JSON.stringify({ batch }))).value.batch).calls;
};

/** The share of nested calls that would be in another trace than their parent. */
const shareApart = (calls: readonly ReportedCall[], size: number): number => {
  const traces = new Map<string, string>();
  for (let i = 0; i < calls.length; i += size) {
    const some = calls.slice(i, i + size);
    const found = resolveTraces(some, traces);
    for (const call of some) traces.set(toCallKey(call), found.get(toCallKey(call)) ?? '');
  }
  const nested = calls.filter(({ start }) => start?.parentId != null);
  const apart = nested.filter((call) => {
    const parent = { projectId: call.projectId, id: call.start?.parentId ?? '' };
    return traces.get(toCallKey(call)) !== traces.get(toCallKey(parent));
  });
  return apart.length / nested.length;
};

const run = async (calls: readonly Call[]): Promise<Figure[]> => {
  const reported = withoutTraces(calls);
  return sizes.map((size) =>
    counted(`in batches of ${size}`, 'share of nested calls', shareApart(reported, size)),
  );
};

/** Whole calls that are reported as they end, by a client that names no traces. */
export const reservations: BenchPart = {
  name: 'reservations',
  title:
    'Calls that are reported as they end and name no trace: in another one than their parent, if none were reserved',
  run: ({ calls }) => run(calls),
};
