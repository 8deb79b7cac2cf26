/**
 * Makes traces as a support agent leaves them: conversations of several turns, each turn a trace of
 * model calls, which carry the whole conversation so far, and of tool calls. The same seed makes
 * the same traces, to the byte.
 */
import type { TracedCall } from './agent-traces-call.ts';
import { Conversation } from './agent-traces-conversation.ts';
import { World } from './agent-traces-world.ts';

export type { TracedCall };

/** What to make. */
export interface TraceOptions {
  /** `<entity>/<project>`. */
  readonly projectId: string;
  /** How many conversations, of four to thirteen turns each. */
  readonly conversations: number;
  /** Any integer. */
  readonly seed?: number;
  /** When the first conversation starts, in milliseconds since 1970. */
  readonly startMs?: number;
}

/** Makes the calls of the conversations, in order of their starts. */
export function* agentTraces({
  projectId,
  conversations,
  seed = 1,
  startMs = Date.UTC(2026, 9, 1),
}: TraceOptions): Generator<TracedCall> {
  const world = new World(seed, startMs);
  for (let number = 0; number < conversations; number++) {
    const thread = `support-${seed}-${number}`;
    const conversation = new Conversation(world, { projectId, conversation: number, thread });
    const turns = 3 + world.below(4) + world.below(7);
    for (let turn = 0; turn < turns; turn++) yield* conversation.turn();
    yield conversation.lastTurn();
  }
}
