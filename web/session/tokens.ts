import type { Credentials } from '../api/client.ts';
import type { Answer } from '../api/contract.ts';
import { RequestFailed } from '../api/http.ts';
import { isObject, jsonIn } from '../data/values.ts';
import { readInTab, writeInTab } from './device.ts';

/*
 * The session of somebody who signed in at an issuer. Its tokens are in the storage of the tab, which no other
 * origin reads, and in no cookie or URL. A duplicated tab has the same session, and a refresh token may be good
 * only once: whichever tab renews the session tells the others.
 */

/** How people sign in. */
export type SignInSetting = Answer<'/sign-in'>;

/** Where people sign in, for them. */
export const issuerHost = ({ issuer }: SignInSetting): string => new URL(issuer).host;

/** A session with its tokens. */
export interface Tokens {
  /** The same in all tabs that have the session. */
  readonly session: string;
  readonly setting: SignInSetting;
  /** What the service takes: an access token or an ID token. */
  readonly bearer: string;
  /** When they were issued and when they are renewed, in ms since 1970, by this device's clock. */
  readonly at: number;
  readonly until: number;
  /** Undefined if the issuer gives none: the session then ends with its token. */
  readonly refresh?: string | undefined;
  /** Tells the issuer whose session is to end; undefined if it is what the service takes. */
  readonly hint?: string | undefined;
}

const name = 'pennytrace.session';

/** The session of this tab; undefined for none. */
export const keptTokens = (): Tokens | undefined => {
  const kept = jsonIn(readInTab(name) ?? '');
  return isObject(kept) ? (kept as unknown as Tokens) : undefined;
};

/** What tabs say to each other: that a session has new tokens or has ended, or that one asks for them. */
interface Message {
  readonly session: string;
  readonly tokens?: Tokens;
  readonly ended?: true;
}

const channel = new BroadcastChannel(name);

const tell = (message: Message): void => channel.postMessage(message);

/** Who wants to know that another tab has ended the session. */
let onEnded = () => {};

channel.addEventListener('message', ({ data: { session, tokens, ended } }: MessageEvent<Message>) => {
  const kept = keptTokens();
  if (kept?.session !== session) return;
  if (ended) {
    writeInTab(name, null);
    onEnded();
  } else if (tokens === undefined) tell({ session, tokens: kept });
  else if (tokens.at > kept.at) writeInTab(name, JSON.stringify(tokens));
});

/** Keeps a session for the tab, and tells the tabs that have it too. */
export const keepTokens = (tokens: Tokens): void => {
  writeInTab(name, JSON.stringify(tokens));
  tell({ session: tokens.session, tokens });
};

/** Ends the session in all tabs that have it. */
export const forgetTokens = (): void => {
  const kept = keptTokens();
  writeInTab(name, null);
  if (kept) tell({ session: kept.session, ended: true });
};

/** Asks other tabs for newer tokens: one that was put to sleep has missed what they told. */
export const askTabs = ({ session }: Tokens): void => tell({ session });

/** Is told when another tab ends the session. */
export const watchEnd = (whenEnded: () => void): (() => void) => {
  onEnded = whenEnded;
  return () => {
    onEnded = () => {};
  };
};

/** The tokens of this tab. Throws RequestFailed if it has none any more. */
const present = (): Tokens => {
  const tokens = keptTokens();
  if (tokens) return tokens;
  throw new RequestFailed('You have signed out. Sign in again.', 401);
};

let renewing: Promise<void> | undefined;

/** Renews the session, once for all requests that wait for it. What does so loads with the first. */
const renewOnce = (): Promise<void> => {
  renewing ??= import('./sign-in.ts')
    .then(({ renew }) => renew(present()))
    .finally(() => {
      renewing = undefined;
    });
  return renewing;
};

/**
 * Credentials of the session of this tab. They are renewed before they end: each request looks, so that a
 * device that slept needs no timer.
 */
export const tokenCredentials: Credentials = {
  authorize: async () => {
    if (present().until <= Date.now()) await renewOnce();
    return `Bearer ${present().bearer}`;
  },
  renew: async (refused) => {
    if (`Bearer ${present().bearer}` === refused) await renewOnce();
    return true;
  },
};
