import { keysRevoke } from '../../../api/people.ts';
import { revoke } from '../../../core/records/people.ts';
import { formatTime } from '../../../foundations/wire/index.ts';
import { work } from '../../common/http/endpoint.ts';
import { asking } from '../../common/http/people.ts';

/** `POST /keys/revoke`: revokes a key for good. */
export const handler = work(keysRevoke, async (request) => {
  const { id, revokedAt } = await revoke(asking(request), request.body.keyId);
  return { key_id: id, revoked_at: formatTime(revokedAt) };
});
