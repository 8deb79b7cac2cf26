import type { Answer, Sender } from './in-process.ts';
import type { TestService } from './service.ts';

/** Sends requests to a running service, as a client would. */
export const overHttp = ({ post, key }: TestService): Sender => ({
  send: async ({ path, method, body, headers }) => {
    const scheme = path.startsWith('/inference/') ? { authorization: `Bearer ${key}` } : undefined;
    const response = await post(path, body, {
      headers: { ...scheme, ...headers },
      ...(method && { method }),
      ...(method === 'GET' && { body: null }),
      ...(Buffer.isBuffer(body) && { body: new Uint8Array(body) }),
    });
    const head = { status: response.status, headers: Object.fromEntries(response.headers) };
    return response.text().then(
      (text): Answer => ({ ...head, text, complete: true }),
      (): Answer => ({ ...head, text: '', complete: false }),
    );
  },
});
