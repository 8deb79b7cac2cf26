import type { Fact } from '../facts.ts';
import { compaction, event, first, named, span, withinTool } from './telemetry.ts';

/** Records of one request or failure, and its span, are at most this far apart: a second. */
const nearMicros = 1_000_000;

/** Facts of one operation, with what it is known by. */
export interface Group {
  readonly kind: 'model' | 'tool' | 'other';
  readonly identity: string;
  readonly facts: Fact[];
}

export const findToolSpan = ({ facts }: Group): string | undefined =>
  first(facts, (fact) => {
    if (fact.name === span.tool) return fact.spanId;
    return fact.name === span.execution || fact.name === span.blocked ? fact.parentSpanId : undefined;
  });

export const findOwnSpan = (group: Group): string | undefined =>
  group.kind === 'tool'
    ? findToolSpan(group)
    : first(group.facts, (fact) => (fact.isSpan ? fact.spanId : undefined));

/** A fact without an id of its operation. */
interface Alone {
  readonly kind: 'model' | 'other';
  readonly fact: Fact;
}

/** The fact of the same model and agent whose end is nearest, if it is near. */
const findNearest = (fact: Fact, others: readonly Fact[]): Fact | undefined => {
  const distance = (other: Fact): number => Math.abs(other.endedAt - fact.endedAt);
  return others
    .filter((other) => other.text('model') === fact.text('model') && distance(other) <= nearMicros)
    .filter((other) => other.isSpan || other.text('agent_id') === fact.text('agent_id'))
    .toSorted((a, b) => distance(a) - distance(b))[0];
};

/** Gathers facts that are about one request, one run of a tool, or one thing that stands by itself. */
export const toGroups = (facts: readonly Fact[]): Group[] => {
  const groups = new Map<string, Group>();
  const add = (kind: Group['kind'], identity: string, fact: Fact): void => {
    const key = `${kind} ${identity}`;
    const group = groups.get(key) ?? { kind, identity, facts: [] };
    group.facts.push(fact);
    groups.set(key, group);
  };
  // What fails, and compactions, have no id in both a record and a span. Their ends are close.
  const alone: Alone[] = [];
  const toolOfSpan = new Map<string, string>();
  for (const fact of facts) {
    const use = fact.text('tool_use_id');
    const toolSpan = fact.name === span.tool ? fact.spanId : fact.parentSpanId;
    if (use !== undefined && toolSpan !== undefined && named(span.tool, span.execution)(fact))
      toolOfSpan.set(toolSpan, use);
  }
  for (const fact of facts) {
    const use = fact.text('tool_use_id');
    const request = fact.text('request_id');
    switch (fact.name) {
      case event.request:
      case event.response:
      case event.error:
      case span.model:
        if (request !== undefined) add('model', request, fact);
        else alone.push({ kind: 'model', fact });
        break;
      case event.result:
      case event.decision:
      case span.tool:
      case span.execution:
        if (use !== undefined) add('tool', use, fact);
        else if (fact.name === event.result) add('tool', fact.key, fact);
        else if (fact.name === span.tool) add('tool', `span ${fact.spanId}`, fact);
        break;
      case span.blocked: {
        const parent = fact.parentSpanId ?? '';
        add('tool', toolOfSpan.get(parent) ?? `span ${parent}`, fact);
        break;
      }
      case compaction:
        alone.push({ kind: 'other', fact });
        break;
      default:
        if (fact.isSpan && fact.name !== span.turn && !withinTool.has(fact.name))
          add('other', `span ${fact.spanId}`, fact);
    }
  }
  const spans = alone.filter(({ fact }) => fact.isSpan);
  const records = alone.filter(({ fact }) => !fact.isSpan);
  const requests = records.filter(({ fact }) => fact.name === event.request);
  const taken = new Set<Fact>();
  const takeNearest = ({ kind, fact }: Alone, others: readonly Alone[]): Fact | undefined => {
    const best = findNearest(
      fact,
      others.flatMap((other) => (other.kind === kind && !taken.has(other.fact) ? other.fact : [])),
    );
    if (best) taken.add(best);
    return best;
  };
  // An upstream that names no requests leaves the answer's record without the request's id.
  const asked = new Map<Fact, Fact>();
  for (const record of records.filter(({ fact }) => fact.name === event.response)) {
    const request = takeNearest(record, requests);
    if (request) asked.set(record.fact, request);
  }
  for (const record of records) {
    const request = asked.get(record.fact);
    add(record.kind, (request ?? record.fact).key, record.fact);
    const own = request ? undefined : takeNearest(record, spans);
    if (own) add(record.kind, record.fact.key, own);
  }
  for (const { kind, fact } of spans) if (!taken.has(fact)) add(kind, `span ${fact.spanId}`, fact);
  return [...groups.values()];
};
