import type { Answer, Sender } from './in-process.ts';
import type { TestService } from './service.ts';

/** Sends requests to a running service, as a client would. */
export const overHttp = ({ post, key }: TestService): Sender => ({
  send: async ({ path, body, headers }) => {
    const scheme = path.startsWith('/inference/') ? { authorization: `Bearer ${key}` } : undefined;
    const response = await post(path, body, { headers: { ...scheme, ...headers } });
    const of = { status: response.status, headers: Object.fromEntries(response.headers) };
    return response.text().then(
      (text): Answer => ({ ...of, text, complete: true }),
      (): Answer => ({ ...of, text: '', complete: false }),
    );
  },
});
