import { createFile } from '../../core/records/files.ts';
import { fileCreate } from '../../weave/api/data.ts';
import { endpoint } from '../http/endpoint.ts';
import { settings } from '../http/settings.ts';

/** `POST /file/create`: stores a file, and answers its digest. */
export const handler = endpoint(fileCreate, async ({ body, budget }) => {
  const { projectId, file, expectedDigest } = body;
  return { digest: await createFile(settings.objects, projectId, file, expectedDigest, budget) };
});
