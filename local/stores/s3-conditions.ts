import type { buildApp } from 'fauxqs';

/** The web server inside the local S3. */
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
 * Makes a local S3 honour `If-Match` for puts and deletes as Amazon's does: 412 if the ETag
 * differs, 404 if there is no object. It ignores the header by itself. Writes run one at a time, so
 * that none comes between the check and the write.
 */
export const honourIfMatch = (server: S3Server): void => {
  let latest = Promise.resolve();
  const turns = new WeakMap<object, () => void>();
  server.addHook('preHandler', async (request, reply) => {
    if (!conditional.has(request.method)) return;
    const previous = latest;
    const turn = Promise.withResolvers<void>();
    latest = turn.promise;
    turns.set(request, turn.resolve);
    await previous;
    const expected = request.headers['if-match'];
    if (expected === undefined) return;
    const [url] = request.url.split('?');
    const { statusCode, headers } = await server.inject({ method: 'HEAD', url: url ?? '/' });
    const status = statusCode === 404 ? 404 : 412;
    if (status === 404 || headers.etag !== expected) {
      return reply.status(status).type('application/xml').send(refusal(status));
    }
  });
  // The write has succeeded or failed by now.
  server.addHook('onSend', async (request) => turns.get(request)?.());
};
