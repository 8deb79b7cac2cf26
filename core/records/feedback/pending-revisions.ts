import { Heap } from '../../foundations/listing/index.ts';
import type { Micros } from '../../foundations/wire/index.ts';
import type { Position } from './model.ts';

interface Pending {
  readonly chain: string;
  readonly position: Position;
}

/**
 * Revisions that tombstones have named and that have not been met: at most one of each chain. There
 * can be as many as were replaced in a day, so the earliest is found in logarithmic time.
 */
export class PendingRevisions {
  readonly #positions = new Map<string, Position>();
  /** In order of time. What is not pending any more stays in it until it comes first. */
  readonly #queue = new Heap<Pending>((a, b) => a.position.createdAt - b.position.createdAt);

  /** Expects a chain's next revision at a position, and no longer at another. */
  set(chain: string, position: Position): void {
    this.#positions.set(chain, position);
    this.#queue.push({ chain, position });
  }

  /** Expects no revision of a chain any more. */
  delete(chain: string): void {
    this.#positions.delete(chain);
  }

  /** Takes the earliest position before a time out; undefined if there is none. */
  takeBefore(time: Micros): Position | undefined {
    for (let next = this.#queue.first; next && next.position.createdAt < time; next = this.#queue.first) {
      this.#queue.pop();
      const { chain, position } = next;
      if (this.#positions.get(chain) !== position) continue;
      this.#positions.delete(chain);
      return position;
    }
    return undefined;
  }
}
