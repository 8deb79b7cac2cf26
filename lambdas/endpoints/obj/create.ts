import { objCreate } from '../../../api/objects.ts';
import { alertClass, retentionClass } from '../../../api/shared/classes.ts';
import { noteAlerts } from '../../../core/records/alerts.ts';
import {
  authorizeChange,
  authorizeObject,
  checkObject,
  createObject,
  describeCreation,
  getOwnClass,
  type ObjectChecks,
} from '../../../core/records/objects/index.ts';
import { noteRetentionObject } from '../../../core/records/retention.ts';
import { auditing } from '../../common/http/audit.ts';
import { endpoint } from '../../common/http/endpoint.ts';
import { stores } from '../../common/http/stores.ts';

/**
 * `POST /obj/create`: makes a version of an object, unless one has this value already. It answers
 * the digest. Values of classes that mean something to the service are checked, and those that take the role
 * `admin`, and public links, are audited.
 */
export const handler = endpoint(objCreate, async (request) => {
  const { caller, budget, door } = request;
  const { obj: sent } = request.body;
  const audit = auditing(request);
  const checks: ObjectChecks = {
    admit: async (obj) => {
      authorizeObject(caller, obj.projectId, obj.val);
      await checkObject(obj.objectId, obj.val);
      if (getOwnClass(obj.val) === alertClass) await noteAlerts(stores.bookkeeping, obj.projectId, budget);
    },
    announce: async (obj, covered) => {
      const change = await describeCreation(stores.objects, obj, covered, budget);
      if (change) await audit(change);
    },
    authorize: authorizeChange(stores.objects, caller, sent.projectId, budget),
  };
  const digest = await createObject(stores.objects, sent, caller.user, budget, checks, door.digests);
  if (getOwnClass(sent.val) === retentionClass)
    await noteRetentionObject(stores.objects, stores.bookkeeping, sent.projectId, budget);
  return { digest, object_id: sent.objectId };
});
