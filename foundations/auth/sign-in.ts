/*
 * The setting `signIn`, as the functions have it that let people in, and that say where they sign in.
 */

/** Which token of the issuer people send. */
export type TokenKind = 'access' | 'id';

/** The setting `signIn`, as functions find it in their environment. */
export interface SignInSettings {
  /** The issuer's URL, with or without a slash at its end. */
  readonly issuer: string;
  readonly clientId: string;
  readonly token: TokenKind;
  /** What clients ask the issuer for. */
  readonly scopes: readonly string[];
  /** The claim with the names of a person's groups. @default - groups count for nothing */
  readonly groupsClaim?: string | undefined;
  /** Who may do everything: e-mail addresses, and groups as `group:<name>`. */
  readonly admins: readonly string[];
  /** Where people sign out. @default - where the issuer's document says */
  readonly endSessionEndpoint?: string | undefined;
  /**
   * Where the issuer leads commands on a person's own machine. @default - `http://127.0.0.1/callback` with any port
   */
  readonly loopbackRedirectUri?: string | undefined;
  /** The URL of `/mcp`, as access tokens for it name it in `aud`. @default - no token is for it alone */
  readonly resource?: string | undefined;
}

/**
 * The setting `signIn` as the environment has it.
 *
 * @returns undefined if the setting is off
 */
export const signInFromEnvironment = ({ SIGN_IN: text }: NodeJS.ProcessEnv): SignInSettings | undefined =>
  text ? (JSON.parse(text) as SignInSettings) : undefined;
