import type { ProjectId } from '../../../foundations/wire/index.ts';
import type { DeadLetter } from '../streams.ts';

/** What a project may take of a batch that all projects share: a project of usual size takes a hundredth. */
export interface Share {
  /** The time that its evaluators may take to decide, in milliseconds. */
  readonly ms: number;
  /** How many verdicts they may ask for. A batch has a thousand records. */
  readonly verdicts: number;
}

const usualShare: Share = { ms: 5000, verdicts: 20_000 };

/** What projects have taken of their shares of a batch, and what was left undone for want of more. */
export class Shares {
  readonly #share: Share;
  readonly #taken = new Map<ProjectId, Share>();
  readonly #left = new Map<ProjectId, number>();

  constructor(share = usualShare) {
    this.#share = share;
  }

  /** Looks who may want a call for a project, unless the project's share is used up. */
  sample<T>(projectId: ProjectId, work: () => readonly T[]): readonly T[] {
    return this.#take(projectId, work, false);
  }

  /** Decides who gives a verdict on a call, unless the project's share is used up. */
  decide<T>(projectId: ProjectId, work: () => readonly T[]): readonly T[] {
    return this.#take(projectId, work, true);
  }

  #take<T>(projectId: ProjectId, work: () => readonly T[], areVerdicts: boolean): readonly T[] {
    const taken = this.#taken.get(projectId) ?? { ms: 0, verdicts: 0 };
    if (taken.ms >= this.#share.ms || taken.verdicts >= this.#share.verdicts) {
      this.#left.set(projectId, (this.#left.get(projectId) ?? 0) + 1);
      return [];
    }
    const began = performance.now();
    const results = work();
    this.#taken.set(projectId, {
      ms: taken.ms + performance.now() - began,
      verdicts: taken.verdicts + (areVerdicts ? results.length : 0),
    });
    return results;
  }

  /** A letter for each project with calls that were not decided about. */
  letters(): DeadLetter[] {
    const { ms, verdicts } = this.#share;
    return [...this.#left].map(([projectId, calls]) => ({
      reason: `the evaluators of ${projectId} took more than ${ms} ms of a batch, or asked for more than ${verdicts} verdicts, so ${calls} of its calls were not judged`,
      record: { project_id: projectId },
    }));
  }
}
