import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from 'vitest';
import { type SharedService, sharedService } from '../../../../support/service/service.ts';
import { basic } from '../../../security/credentials.ts';

let service: SharedService;
beforeAll(async () => {
  service = await sharedService();
});

const body = JSON.stringify({ project_id: 'acme/packed' });

describe('a packed body of an endpoint that takes plain JSON', () => {
  // The gateway unpacks some, and the function has the others.
  it.each([
    ['gzip', gzipSync(body)],
    ['deflate', deflateSync(body)],
    ['gzip', Buffer.from(body)],
    ['br', brotliCompressSync(body)],
    ['gzip, gzip', gzipSync(gzipSync(body))],
    ['x', Buffer.from(body)],
  ])('is a 415 that asks for no header %s, whoever answers', async (encoding, bytes) => {
    const answer = await fetch(`${service.url}/calls/query_stats`, {
      method: 'POST',
      headers: {
        authorization: basic(service.key, 'api'),
        'content-type': 'application/json',
        'content-encoding': encoding,
      },
      body: new Uint8Array(bytes),
    });
    expect(answer.status).toBe(415);
    expect(await answer.json()).toMatchObject({
      detail: [
        {
          loc: ['header', 'content-encoding'],
          msg: expect.stringMatching(
            /^should be absent, and the body plain.* exports? of OpenTelemetry may /,
          ),
        },
      ],
    });
  });
});
