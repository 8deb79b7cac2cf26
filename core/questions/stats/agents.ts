import { mapConcurrent, type RequestBudget, type Store } from '../../../foundations/storage/index.ts';
import { invalid, type ProjectId } from '../../../foundations/wire/index.ts';
import type { CallHeader } from '../../records/calls/index.ts';
import { kindOf, ownAgent } from '../traces/agents.ts';
import { readTrace } from './usage.ts';

/** The most calls whose agents, or whose traces, are held in memory: some 200 MB. */
export const maxHeld = 1_000_000;

/** @param what is told of calls */
export const tooManyCalls = (loc: string, what: string) =>
  invalid({
    loc: ['body', loc],
    msg: `there are more than ${maxHeld} calls to tell ${what} of: ask for a shorter time or fewer calls`,
    type: 'too_long',
  });

/** The name of an agent; null outside of agents. */
type AgentName = string | null;

/** What is known of the calls of a trace. */
interface Trace {
  readonly agents: Map<string, AgentName>;
  /** Calls whose parents were not met yet, by their parents. */
  readonly waiting: Map<string, string[]>;
  /** Whether it was read whole: what is not known then has no agent. */
  isRead: boolean;
}

/** How many traces are read at once. */
const concurrency = 16;

/**
 * Finds the nearest agent at or above each call in its trace. Calls are met in the order of their start, so
 * most parents are known before their children. Traces of which a part was not met are read by their index.
 */
export class AgentFinder {
  /** Traces that were read. */
  readTraces = 0;
  readonly #traces = new Map<string, Trace>();
  readonly #read: (traceId: string) => Promise<CallHeader[]>;
  #held = 0;

  constructor(store: Store, projectId: ProjectId, budget: RequestBudget) {
    this.#read = (traceId) => readTrace(store, projectId, traceId, budget);
  }

  /**
   * Notes calls. A call whose parent is in another trace has none above it.
   *
   * @throws ServiceError 422 if there are too many
   */
  meet(calls: readonly CallHeader[]): void {
    for (const call of calls) {
      const trace = this.#traceOf(call.start.traceId);
      if (trace.isRead && trace.agents.has(call.id)) continue;
      this.#hold(1);
      this.#note(trace, call);
    }
  }

  /** The agent of a call; undefined as long as that is not known. */
  find({ id, start }: CallHeader): AgentName | undefined {
    const trace = this.#traces.get(start.traceId);
    return trace?.agents.get(id) ?? (trace?.agents.has(id) || trace?.isRead ? null : undefined);
  }

  /**
   * Finds the agents of calls whose parents were not met, by reading their traces.
   *
   * @throws ServiceError 503 when storage does not give them in time
   */
  async settle(calls: readonly CallHeader[]): Promise<void> {
    const unknown = calls.filter((call) => this.find(call) === undefined);
    const ids = [...new Set(unknown.map(({ start }) => start.traceId))];
    this.readTraces += ids.length;
    await mapConcurrent(ids, concurrency, async (id) => {
      const trace = this.#traceOf(id);
      const all = (await this.#read(id)).filter((call) => !trace.agents.has(call.id));
      this.#hold(all.length);
      for (const call of all) this.#note(trace, call);
      // Their parents are nowhere, or form a circle.
      trace.waiting.clear();
      trace.isRead = true;
    });
  }

  #traceOf(id: string): Trace {
    const known = this.#traces.get(id);
    if (known) return known;
    const trace: Trace = { agents: new Map(), waiting: new Map(), isRead: false };
    this.#traces.set(id, trace);
    return trace;
  }

  #hold(count: number): void {
    this.#held += count;
    if (this.#held > maxHeld) throw tooManyCalls('group_by', 'the agents');
  }

  #note(trace: Trace, call: CallHeader): void {
    const { parentId } = call.start;
    const own = ownAgent(call, kindOf(call));
    const above = parentId === null ? null : trace.agents.get(parentId);
    if (own) this.#know(trace, call.id, own.name);
    else if (above !== undefined) this.#know(trace, call.id, above);
    else if (parentId !== null)
      trace.waiting.set(parentId, [...(trace.waiting.get(parentId) ?? []), call.id]);
  }

  /** Notes the agent of a call, and of those below that waited for it. */
  #know({ agents, waiting }: Trace, id: string, agent: AgentName): void {
    const next = [id];
    for (let known = next.pop(); known !== undefined; known = next.pop()) {
      agents.set(known, agent);
      next.push(...(waiting.get(known) ?? []));
      waiting.delete(known);
    }
  }
}
