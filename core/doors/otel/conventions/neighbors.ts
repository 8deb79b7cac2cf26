import type { JsonObject, JsonValue } from '../../../../foundations/wire/index.ts';
import { getException } from '../exception.ts';
import { answerMessages, messageList } from '../messages/chat.ts';
import { first } from '../values.ts';
import { asMessages, type Translation } from './convention.ts';
import { isMcpCall } from './mcp.ts';
import { type Entry, toSpanKey } from './usage.ts';

/*
 * What spans of one export say of each other: a framework divides one operation among several
 * spans, or several libraries report it.
 */

const indexById = <E extends Entry>(entries: readonly E[]): ReadonlyMap<string, E> =>
  new Map(entries.map((entry) => [toSpanKey(entry.span.traceId, entry.span.spanId), entry]));

const findParent = <E extends Entry>({ span }: E, byId: ReadonlyMap<string, E>): E | undefined =>
  span.parentSpanId === undefined ? undefined : byId.get(toSpanKey(span.traceId, span.parentSpanId));

const isMastra = ({ span }: Entry, type: string): boolean => span.attributes.get('mastra.span.type') === type;

/**
 * Gives requests of Mastra the messages of the step around them, which alone has them. Each step has
 * one request.
 *
 * @param entries the spans of one export, in any order
 */
export const withSteps = <E extends Entry>(entries: readonly E[]): readonly E[] => {
  if (!entries.some((entry) => isMastra(entry, 'model_inference'))) return entries;
  const byId = indexById(entries);
  return entries.map((entry) => {
    const step = isMastra(entry, 'model_inference') ? findParent(entry, byId) : undefined;
    if (!step || !isMastra(step, 'model_step')) return entry;
    const { inputs, output } = step.translation;
    const own = entry.translation;
    const inputMessages = asMessages(messageList(first(inputs, 'messages', 'input'), 'user'));
    // The request itself has the text of the answer, and not the tools that it calls.
    const answered = asMessages(answerMessages(output));
    return {
      ...entry,
      translation: {
        ...own,
        inputs: { ...inputMessages, ...own.inputs } as JsonObject,
        output: (answered ?? own.output) as JsonValue,
      },
    };
  });
};

/** What is around a span: an operation, nothing, or a span that is not in the export. */
type Around<E> = E | 'nothing' | 'unknown';

/** For each span the nearest one around it that is no mere step. Each step is looked at once. */
const operationsAround = <E extends Entry>(
  entries: readonly E[],
  byId: ReadonlyMap<string, E>,
): ReadonlyMap<E, Around<E>> => {
  const known = new Map<E, Around<E>>();
  for (const entry of entries) {
    const path: E[] = [];
    let found: Around<E> = 'nothing';
    for (let at: E | undefined = entry; at; ) {
      const before: Around<E> | undefined = known.get(at);
      if (before !== undefined) {
        found = before;
        break;
      }
      // Spans that are parents of each other end here.
      known.set(at, 'nothing');
      path.push(at);
      const parent: E | undefined = findParent(at, byId);
      if (!parent) found = at.span.parentSpanId === undefined ? 'nothing' : 'unknown';
      else if (parent.translation.kind !== 'other') found = parent;
      at = found === 'nothing' ? parent : undefined;
    }
    for (const entry of path) known.set(entry, found);
  }
  return known;
};

/** A tool's own name, without the server before it. */
const ownName = ({ tool = '' }: Translation): string => tool.slice(tool.lastIndexOf('.') + 1);

/** Whether a tool's span reports the call that the tool around it is. */
const isSameCall = (inner: Entry, outer: Entry): boolean =>
  outer.translation.kind === 'tool' &&
  ownName(inner.translation) === ownName(outer.translation) &&
  (isMcpCall(inner.span.attributes) || inner.span.scope.name !== outer.span.scope.name);

const isEmpty = (value: object): boolean => Object.keys(value).length === 0;

const latestFirst = (a: Entry, b: Entry): number => Number(b.span.endTimeUnixNano - a.span.endTimeUnixNano);

/**
 * A tool's call with what the spans below say of it: arguments, a result, and how it ended. Where a
 * client tried several times, the last one counts.
 */
const joined = <E extends Entry>(entry: E, repeats: readonly E[]): E => {
  const [last = entry, ...others] = repeats.toSorted(latestFirst);
  const tried = [last, ...others.filter(({ span }) => span.endTimeUnixNano >= last.span.startTimeUnixNano)];
  const { translation } = entry;
  const own = getException(entry.span, translation.exception);
  const [error] = tried.flatMap(
    ({ span, translation: { exception } }) => getException(span, exception) ?? [],
  );
  return {
    ...entry,
    translation: {
      ...translation,
      inputs: isEmpty(translation.inputs) ? last.translation.inputs : translation.inputs,
      output: translation.output ?? last.translation.output,
      ...(own === null && error !== undefined && { exception: error }),
    },
  };
};

/**
 * Makes steps of spans that report the call of the tool around them once more: those of clients and
 * servers of MCP, and of a second library. The tool has their error, if it has none itself. Below a
 * span that is not here, MCP's spans are taken for such, since the agent's tool is around them.
 *
 * @param entries the spans of one export, in any order
 */
export const withoutRepeatedTools = <E extends Entry>(entries: readonly E[]): readonly E[] => {
  const tools = entries.filter(({ translation }) => translation.kind === 'tool');
  if (tools.length === 0) return entries;
  const around = operationsAround(tools, indexById(entries));
  const outerRequests = new Map<E, E | undefined>();
  for (const tool of tools) {
    const outer = around.get(tool);
    if (outer === 'unknown' && isMcpCall(tool.span.attributes)) outerRequests.set(tool, undefined);
    else if (typeof outer === 'object' && isSameCall(tool, outer)) outerRequests.set(tool, outer);
  }
  const repeats = new Map<E, E[]>();
  for (const inner of outerRequests.keys()) {
    let outer = outerRequests.get(inner);
    for (let levels = 0; outer && outerRequests.get(outer) && levels < tools.length; levels++)
      outer = outerRequests.get(outer);
    if (outer) repeats.set(outer, [...(repeats.get(outer) ?? []), inner]);
  }
  return entries.map((entry) => {
    if (outerRequests.has(entry)) {
      const { tool: _, ...rest } = entry.translation;
      return { ...entry, translation: { ...rest, kind: 'other' } };
    }
    const inner = repeats.get(entry);
    return inner ? joined(entry, inner) : entry;
  });
};
