import { type JsonObject, nonEmptyString } from '../../../foundations/wire/index.ts';
import type { Resume, Translation } from './conventions/index.ts';
import { isOfOpenAiAgents } from './conventions/openai-agents.ts';
import type { ReceivedSpan } from './decode/spans.ts';
import { get } from './values.ts';

/*
 * What only the spans of a whole run show of questions to a person: that a tool which gave nothing was the
 * last thing in it, and that a run began with a tool, so that an earlier one had called it.
 */

/** A span with what it says, and its place among the others. */
interface Call extends ReceivedSpan {
  readonly projectId: string;
  readonly id: string;
  readonly parentId: string | null;
  readonly translation: Translation;
}

/** Whether a run goes on with a tool, or with its result, and says so nowhere. */
const isSilent = ({ span, translation: { kind, resume } }: Call): boolean =>
  kind === 'agent' && !resume && (span.scope.name === 'gcp.vertex.agent' || isOfOpenAiAgents({ span }));

/** Whether anything in a request can be meant: then its runs are looked at. */
const mayPause = (call: Call): boolean => call.translation.wait?.isLast === true || isSilent(call);

const isStep = ({ translation: { kind } }: Call): boolean => kind === 'model' || kind === 'tool';

const getStart = ({ span }: Call): bigint => span.startTimeUnixNano;

/** How many levels above a step the runs are that it belongs to. */
const maxLevels = 64;

/** The steps of each agent's run, those of agents in it too, in order of their start. */
const groupSteps = <T extends Call>(calls: readonly T[]): ReadonlyMap<T, readonly T[]> => {
  const byId = new Map(calls.map((call) => [`${call.projectId} ${call.id}`, call]));
  const steps = new Map<T, T[]>();
  for (const call of calls.filter(isStep)) {
    let at: T | undefined = call;
    for (let level = 0; at && level < maxLevels; level++) {
      if (at.translation.kind === 'agent') {
        const known = steps.get(at) ?? [];
        known.push(call);
        steps.set(at, known);
      }
      at = byId.get(`${at.projectId} ${at.parentId}`);
    }
  }
  return new Map(
    [...steps].map(([run, runSteps]) => [
      run,
      runSteps.toSorted((a, b) => (getStart(a) < getStart(b) ? -1 : 1)),
    ]),
  );
};

/** The id of the tool's call whose result is the last message that a model was given. */
const lastResult = (inputs: JsonObject): string | undefined => {
  const messages = get(inputs, 'messages');
  const last: unknown = Array.isArray(messages) ? messages.at(-1) : undefined;
  return get(last, 'role') === 'tool' ? nonEmptyString(get(last, 'tool_call_id')) : undefined;
};

/**
 * The first step of a run that begins so soon after it was not preceded by one of another request. Where
 * the question has an id, that is no matter.
 */
const soonNanos = 50_000_000n;

/**
 * What shows that a run goes on: its first step is a tool, or a model that is given a tool's result.
 *
 * @param followsAgent whether another agent's run may have called that tool, to hand over
 */
const findResume = (run: Call, first: Call, followsAgent: boolean): Resume | undefined => {
  const { kind, inputs } = first.translation;
  const own = nonEmptyString(first.span.attributes.get('gen_ai.tool.call.id'));
  const id = kind === 'tool' ? own : lastResult(inputs);
  if (kind !== 'tool' && (id === undefined || followsAgent)) return undefined;
  // Questions of OpenAI's Agents have no id.
  if (id !== undefined && !isOfOpenAiAgents(run)) return { keys: [id], unique: true };
  return getStart(first) - getStart(run) > soonNanos ? undefined : { keys: [] };
};

/** The first step of each trace, and the first after each question: no other agent's run was before them. */
const firstSteps = <T extends Call>(steps: readonly T[], asking: readonly T[]): ReadonlySet<T> => {
  const firsts = new Set<T>();
  const traces = Map.groupBy(asking, ({ span }) => span.traceId);
  for (const [traceId, traceSteps] of Map.groupBy(steps, ({ span }) => span.traceId)) {
    const ordered = traceSteps.toSorted((a, b) => (getStart(a) < getStart(b) ? -1 : 1));
    const since = [0n, ...(traces.get(traceId) ?? []).map(({ span }) => span.endTimeUnixNano)];
    for (const time of since) {
      const first = ordered.find((step) => getStart(step) >= time);
      if (first) firsts.add(first);
    }
  }
  return firsts;
};

/** Calls with the questions and answers that only whole runs show, and without those that are none. */
export const withPauses = <T extends Call>(calls: readonly T[]): readonly T[] => {
  if (!calls.some(mayPause)) return calls;
  const steps = groupSteps(calls);
  const lasts = new Set([...steps.values()].map((runSteps) => runSteps.at(-1)));
  const asking = calls.filter((call) => call.translation.wait?.isLast && lasts.has(call));
  const firsts = firstSteps(calls.filter(isStep), asking);
  return calls.map((call) => {
    const { wait, ...others } = call.translation;
    if (wait?.isLast && !lasts.has(call)) return { ...call, translation: others };
    const [first] = steps.get(call) ?? [];
    const resume = first && isSilent(call) ? findResume(call, first, !firsts.has(first)) : undefined;
    return resume ? { ...call, translation: { ...call.translation, resume } } : call;
  });
};
