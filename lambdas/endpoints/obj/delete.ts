import { objDelete } from '../../../api/objects.ts';
import {
  authorizeChange,
  authorizeDeletion,
  deleteVersions,
  findDigests,
} from '../../../core/records/objects/index.ts';
import { endpoint } from '../../common/http/endpoint.ts';
import { movingLabels } from '../../common/http/label-moves.ts';
import { stores } from '../../common/http/stores.ts';

/**
 * `POST /obj/delete`: deletes some or all versions of an object, and answers how many there were.
 */
export const handler = endpoint(objDelete, async ({ body, caller, budget, describe }) => {
  const { digests, ...name } = body;
  const named = digests ? await findDigests(stores.objects, name, digests, budget) : null;
  await authorizeDeletion(stores.objects, caller, name, named, budget);
  const authorize = authorizeChange(stores.objects, caller, name.projectId, budget);
  const deleted = await movingLabels(caller, budget, (mover) =>
    deleteVersions(stores.objects, name, named, budget, { names: digests ?? [], authorize, mover }),
  );
  describe(() => ({ rows: deleted }));
  return { num_deleted: deleted };
});
