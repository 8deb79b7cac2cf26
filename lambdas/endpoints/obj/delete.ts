import { objDelete } from '../../../api/objects.ts';
import { retentionObject } from '../../../api/project-objects.ts';
import {
  type AuthorizeChange,
  authorizeChange,
  authorizeDeletion,
  deleteVersions,
  describeDeletion,
  findDigests,
} from '../../../core/records/objects/index.ts';
import { noteRetentionObject } from '../../../core/records/retention.ts';
import { auditing } from '../../common/http/audit.ts';
import { endpoint } from '../../common/http/endpoint.ts';
import { movingLabels } from '../../common/http/label-moves.ts';
import { stores } from '../../common/http/stores.ts';

/**
 * `POST /obj/delete`: deletes some or all versions of an object, and answers how many there were.
 */
export const handler = endpoint(objDelete, async (request) => {
  const { caller, budget, describe } = request;
  const { digests, ...name } = request.body;
  const audit = auditing(request);
  const named = digests ? await findDigests(stores.objects, name, digests, budget) : null;
  await authorizeDeletion(stores.objects, caller, name, named, budget);
  const authorize = authorizeChange(stores.objects, caller, name.projectId, budget);
  const authorizeAndAudit: AuthorizeChange = async (change) => {
    await authorize(change);
    await audit(await describeDeletion(stores.objects, name, change, budget));
  };
  const deleted = await movingLabels(request, (mover) =>
    deleteVersions(stores.objects, name, named, budget, {
      names: digests ?? [],
      authorize: authorizeAndAudit,
      mover,
    }),
  );
  if (name.objectId === retentionObject)
    await noteRetentionObject(stores.objects, stores.bookkeeping, name.projectId, budget);
  describe(() => ({ rows: deleted }));
  return { num_deleted: deleted };
});
