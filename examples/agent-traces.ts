/**
 * Makes traces like those of a support agent. Conversations have several turns, and each turn is a
 * trace of model calls and tool calls. Every model call carries the whole conversation so far. The
 * same seed makes the same bytes.
 */
import type { TracedCall } from './agent-traces-call.ts';
import { Conversation } from './agent-traces-conversation.ts';
import { World } from './agent-traces-world.ts';

export type { TracedCall };

export interface TraceOptions {
  /** `<entity>/<project>`. */
  readonly projectId: string;
  /** The number of conversations. Each has four to thirteen turns. */
  readonly conversations: number;
  /** Any integer. */
  readonly seed?: number;
  /** The start of the first conversation, in ms since 1970. */
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
