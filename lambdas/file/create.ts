import { fileCreate } from '../../api/requests.ts';
import { createFile } from '../../core/records/files.ts';
import { jsonEndpoint } from '../http/endpoint.ts';
import { readForm } from '../http/multipart.ts';
import { settings } from '../http/settings.ts';

/** `POST /file/create`: stores a file, and answers its digest. */
export const handler = jsonEndpoint(
  {
    ...fileCreate(),
    projects: ({ project_id: projectId }) => [{ projectId, loc: ['project_id'] }],
    reader: readForm,
  },
  async ({ body, budget }) => ({
    digest: await createFile(
      settings.objects,
      body.project_id,
      body.file,
      body.expected_digest ?? null,
      budget,
    ),
  }),
);
