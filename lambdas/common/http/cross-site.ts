import { requestIdHeader } from '../../../api/shared/headers.ts';
import { forbidden } from '../../../foundations/wire/index.ts';
import { getHeader } from './headers.ts';
import { type Located, ownUrl } from './own-url.ts';

/** The origins whose pages may send requests, by the setting `corsOrigins`. */
const allowed: ReadonlySet<string> = new Set(process.env.CORS_ORIGINS?.split(','));

/** What scripts may read of an answer's head. */
const exposed = [requestIdHeader, 'retry-after'].join(', ');

/**
 * The headers that let a page of another origin read an answer: none without the setting. Credentials
 * that a browser would add by itself are not let through; a page sends its key.
 */
export const originHeaders = (event: Pick<Located, 'headers'>): Readonly<Record<string, string>> => {
  if (allowed.size === 0) return {};
  const origin = getHeader(event, 'origin');
  return {
    vary: 'origin',
    ...(origin !== undefined &&
      allowed.has(origin) && {
        'access-control-allow-origin': origin,
        'access-control-expose-headers': exposed,
      }),
  };
};

const ownOrigin = (event: Located): string | undefined => {
  const url = ownUrl(event);
  return URL.canParse(url) ? new URL(url).origin : undefined;
};

/**
 * Whether a page of another site had a browser send a request. Browsers say so themselves
 * (https://www.w3.org/TR/fetch-metadata/), whatever host stands before the service. Of one that does
 * not, the origin is compared. A client that sends neither header is no browser.
 */
const isCrossSite = (event: Located): boolean => {
  const origin = getHeader(event, 'origin');
  if (origin !== undefined && allowed.has(origin)) return false;
  const site = getHeader(event, 'sec-fetch-site');
  if (site === 'same-origin') return false;
  if (site !== undefined && site !== 'none') return true;
  return origin !== undefined && origin !== ownOrigin(event);
};

/**
 * Refuses what a page of another site sends, whatever its key.
 *
 * @throws ServiceError 403
 */
export const refuseCrossSite = (event: Located): void => {
  if (!isCrossSite(event)) return;
  const header = getHeader(event, 'origin') === undefined ? 'sec-fetch-site' : 'origin';
  throw forbidden(
    ['header', header],
    "should not be another site's: cross-site requests are refused, except from the origins in the setting corsOrigins",
  );
};

/**
 * Refuses what a page of another site sends with Basic, which browsers add to any request by
 * themselves once somebody has signed in there. A policy of the authorizer may be cached, and so
 * cannot tell.
 *
 * @throws ServiceError 403
 */
export const refuseCrossSiteBasic = (event: Located): void => {
  if (/^basic\b/i.test(getHeader(event, 'authorization') ?? '')) refuseCrossSite(event);
};
