import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';

/*
 * The link that the local service prints: whoever opens it is signed in. It has a code in its fragment, which
 * browsers send nowhere. The page removes it from the address at once, and exchanges it for the key. So the
 * key is in no URL, history, log or Referer, and the code is good for nothing once it was used. The
 * deployed service has no such thing.
 */

/** Where the page exchanges its code. */
const path = '/local/sign-in';

/** How long a code can be used, in ms. */
const lifetimeMs = 3_600_000;

/** The longest body that is read, in characters. */
const maxBody = 1000;

const codeIn = (body: string): string => {
  try {
    const { code } = JSON.parse(body) as { code?: unknown };
    return typeof code === 'string' ? code : '';
  } catch {
    return '';
  }
};

/** A link, and what answers the page that it leads to. */
export interface SignInLink {
  readonly url: string;
  /** Answers the exchange, and passes everything else on. */
  readonly before: (next: RequestListener) => RequestListener;
}

/**
 * Makes a link that signs in once, within an hour.
 *
 * @param url of the service, without a slash at its end
 * @param key what the page gets
 */
export const signInLink = (url: string, key: string): SignInLink => {
  const code = randomBytes(24).toString('base64url');
  const expected = Buffer.from(code);
  const until = performance.now() + lifetimeMs;
  let used = false;

  const matches = (given: string): boolean => {
    const bytes = Buffer.from(given);
    return bytes.length === expected.length && timingSafeEqual(bytes, expected);
  };

  const answer = (res: ServerResponse, status: number, body: object): void => {
    const headers = {
      'content-type': 'application/json',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    };
    res.writeHead(status, headers).end(JSON.stringify(body));
  };

  const exchange = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    const length = Number(req.headers['content-length'] ?? maxBody + 1);
    const sentCode = length <= maxBody ? codeIn(await text(req)) : '';
    if (used || performance.now() > until || !matches(sentCode)) {
      const msg = 'this link was used before, has expired, or is of another start of the service';
      return answer(res, 410, { detail: [{ loc: [], msg, type: 'gone' }] });
    }
    used = true;
    answer(res, 200, { key });
  };

  return {
    url: `${url}/ui/#sign-in=${code}`,
    before: (next) => (req, res) => {
      if (req.method !== 'POST' || req.url !== path) return next(req, res);
      exchange(req, res).catch(() => res.destroy());
    },
  };
};
