import type { buildApp } from 'fauxqs';

/** The web server that the local S3 is. */
export type S3Server = ReturnType<typeof buildApp>;

const conditional = new Set(['PUT', 'DELETE']);

const refusals = {
  404: ['NoSuchKey', 'The specified key does not exist.'],
  412: ['PreconditionFailed', 'At least one of the pre-conditions you specified did not hold'],
} as const;

const refusal = (status: keyof typeof refusals): string => {
  const [code, message] = refusals[status];
  return `<?xml version="1.0" encoding="UTF-8"?><Error><Code>${code}</Code><Message>${message}</Message></Error>`;
};

/**
 * Has a local S3 honour `If-Match` where objects are put and deleted, as Amazon's does: 412 for an
 * object with another ETag, 404 for none. It would write regardless. Writes are done one after the
 * other, so that none comes between another's look at the ETag and its writing.
 */
export const honourIfMatch = (server: S3Server): void => {
  let latest = Promise.resolve();
  const turns = new WeakMap<object, () => void>();
  server.addHook('preHandler', async (request, reply) => {
    if (!conditional.has(request.method)) return;
    const before = latest;
    const turn = Promise.withResolvers<void>();
    latest = turn.promise;
    turns.set(request, turn.resolve);
    await before;
    const expected = request.headers['if-match'];
    if (expected === undefined) return;
    const [url] = request.url.split('?');
    const { statusCode, headers } = await server.inject({ method: 'HEAD', url: url ?? '/' });
    const status = statusCode === 404 ? 404 : 412;
    if (status === 404 || headers.etag !== expected) {
      return reply.status(status).type('application/xml').send(refusal(status));
    }
  });
  // By now its handler has written, or failed.
  server.addHook('onSend', async (request) => turns.get(request)?.());
};
