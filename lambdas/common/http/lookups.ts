import type { Lookups } from '../../../core/questions/query/index.ts';
import { readCosts } from '../../../core/records/costs/index.ts';
import { FeedbackJoin } from '../../../core/records/feedback/index.ts';
import { resolveRefs } from '../../../core/records/objects/index.ts';
import { allows, type Caller } from '../../../foundations/auth/index.ts';
import { stores } from './stores.ts';

/**
 * What refs lead to. A ref into a project that the caller's key may not read counts as a ref to
 * nothing.
 */
const objectsFor =
  ({ grants }: Pick<Caller, 'grants'>): Lookups['objects'] =>
  async (refs, budget) => {
    const readable = refs.filter(({ projectId }) => allows(grants, projectId, 'read'));
    const found = await resolveRefs(stores.objects, readable, budget);
    const values = new Map(readable.map((ref, i) => [ref, found[i]]));
    return refs.map((ref) => values.get(ref));
  };

/** What queries over calls look up elsewhere. */
export const lookupsFor = (caller: Pick<Caller, 'grants'>): Lookups => ({
  costs: (projectId, budget) => readCosts(stores.costs, projectId, budget),
  feedback: (projectId, budget) => new FeedbackJoin(stores.feedback, projectId, budget),
  objects: objectsFor(caller),
});
