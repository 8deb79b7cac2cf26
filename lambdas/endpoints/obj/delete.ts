import { objDelete } from '../../../api/objects.ts';
import {
  authorizeChange,
  authorizeDeletion,
  deleteVersions,
  findDigests,
} from '../../../core/records/objects/index.ts';
import { endpoint } from '../../common/http/endpoint.ts';
import { settings } from '../../common/http/settings.ts';

/**
 * `POST /obj/delete`: deletes some or all versions of an object, and answers how many there were.
 */
export const handler = endpoint(objDelete, async ({ body, caller, budget, describe }) => {
  const { digests, ...name } = body;
  const named = digests ? await findDigests(settings.objects, name, digests, budget) : null;
  await authorizeDeletion(settings.objects, caller, name, named, budget);
  const authorize = authorizeChange(settings.objects, caller, name.projectId, budget);
  const deleted = await deleteVersions(settings.objects, name, named, budget, digests ?? [], authorize);
  describe(() => ({ rows: deleted }));
  return { num_deleted: deleted };
});
