import { fileCreate } from '../../../api/files.ts';
import { createFile } from '../../../core/records/files.ts';
import { endpoint } from '../../common/http/endpoint.ts';
import { settings } from '../../common/http/settings.ts';

/** `POST /file/create`: stores a file, and answers its digest. */
export const handler = endpoint(fileCreate, async ({ body, budget, door }) => {
  const { projectId, file, expectedDigest } = body;
  const { digests } = door;
  return { digest: await createFile(settings.objects, projectId, file, expectedDigest, budget, digests) };
});
