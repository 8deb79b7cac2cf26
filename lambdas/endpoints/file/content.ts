import { Readable } from 'node:stream';
import { fileContent } from '../../../api/files.ts';
import { readFile } from '../../../core/records/files.ts';
import { everyAnswer } from '../../common/http/answer.ts';
import { rawEndpoint } from '../../common/http/endpoint.ts';
import { stores } from '../../common/http/stores.ts';

/**
 * `POST /file/content`: the bytes of a file. It is streamed, because API Gateway takes a buffered
 * answer for text.
 */
export const handler = rawEndpoint(fileContent, async ({ service: { id, body, budget }, log }) => {
  const bytes = await readFile(stores.objects, body.projectId, body.digest, budget);
  log.describes(() => ({ status: 200, rows: 1, bytes: bytes.length }));
  log.ends('answered');
  return {
    statusCode: 200,
    headers: { ...everyAnswer(id), 'content-type': 'application/octet-stream' },
    body: Readable.from(bytes.length > 0 ? [bytes] : [], { objectMode: false }),
  };
});
