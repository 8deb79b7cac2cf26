import { publicLinkClass, sharingClass } from '../../../api/shared/classes.ts';
import { base64url, secretBytes } from '../../../api/shared/sharing.ts';
import type { ObjectVersion } from '../../api/contract.ts';
import { isObject } from '../../data/values.ts';

/*
 * Public links to traces, as they are stored.
 */

/** Whether a project allows links. */
export interface Sharing {
  readonly _type: typeof sharingClass;
  readonly public_links: boolean;
}

export interface Link {
  readonly _type: typeof publicLinkClass;
  readonly trace_id: string;
  readonly expires_at: string;
  readonly digest: string;
  readonly revoked?: boolean;
}

/** A link as it is stored. */
export interface StoredLink {
  readonly id: string;
  readonly link: Link;
  readonly by: string;
  readonly at: string;
  readonly state: 'active' | 'expired' | 'revoked';
}

/** A stored object as a link; undefined for one that is none. */
export const toLink = (
  { object_id, val, ...version }: ObjectVersion,
  now: number,
): StoredLink | undefined => {
  if (!isObject(val) || val._type !== publicLinkClass || typeof val.trace_id !== 'string') return undefined;
  const link = val as unknown as Link;
  // Any further version ends a link.
  const isRevoked = link.revoked === true || version.version_index > 0;
  const state = isRevoked ? 'revoked' : Date.parse(link.expires_at) <= now ? 'expired' : 'active';
  return { id: object_id, link, by: version.svc_user_id, at: version.created_at, state };
};

/** Whether the latest version of a project's `sharing` allows links. */
export const allowsLinks = (versions: readonly ObjectVersion[]): boolean =>
  versions.some(({ val }) => isObject(val) && val._type === sharingClass && val.public_links === true);

/** The secret of a new link, and what is stored of it. */
export const makeSecret = async () => {
  const secret = crypto.getRandomValues(new Uint8Array(secretBytes));
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', secret));
  return { secret: base64url(secret), digest: base64url(digest) };
};

export const makeId = (): string => `link-${base64url(crypto.getRandomValues(new Uint8Array(16)))}`;

/** The address that a link has. */
export const addressOf = (token: string): string => new URL(`shared#${token}`, document.baseURI).href;
