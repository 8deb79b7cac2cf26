import { fileCreate } from '../../../api/files.ts';
import { createFile } from '../../../core/records/files.ts';
import { endpoint } from '../../common/http/endpoint.ts';
import { stores } from '../../common/http/stores.ts';

/** `POST /file/create`: stores a file, and answers its digest. */
export const handler = endpoint(fileCreate, async ({ body, budget, door }) => {
  const { projectId, file, expectedDigest } = body;
  const { digests } = door;
  return { digest: await createFile(stores.objects, projectId, file, expectedDigest, budget, digests) };
});
