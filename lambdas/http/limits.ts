/**
 * Bounds on streamed answers. Lambda ends a stream at 200 MB. API Gateway ends one that has been
 * silent for five minutes, other proxies after one. docs/decisions/0170 has the reasons.
 */
export const limits = {
  /** How long an answer may be silent before white space is sent, in milliseconds. */
  silenceMs: 50_000,
  /** How long nothing may be taken of an answer before it is given up, in milliseconds. */
  stalledMs: 60_000,
  /** The most bytes of an answer, as they are sent: a little less, for the message at its end. */
  answerBytes: 199_000_000,
} as const;

/** The bounds, of which tests have their own. */
export type Limits = { readonly [name in keyof typeof limits]: number };
