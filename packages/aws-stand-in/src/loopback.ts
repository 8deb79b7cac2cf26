import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';

/*
 * The ports of stand-ins listen on this machine alone. That does not keep web pages out: a
 * browser sends their requests to any port, and a page whose name leads to 127.0.0.1 may also read the
 * answers (DNS rebinding). Such requests have the page's name in `Host`, and its origin in `Origin`.
 */

/** The address that everything listens on. */
export const loopback = '127.0.0.1';

/** The names of this machine that no name server has a say in. */
const ownNames: ReadonlySet<string> = new Set(['localhost', loopback, '[::1]']);

/** Who may use a port. */
export interface Doorkeeping {
  /** Names of this machine beside its own, in lower case. @default - there are none */
  readonly hosts?: readonly string[];
  /** What adds a name to these, for the message of a refusal. @default - it is not said */
  readonly hostsSetting?: string;
  /**
   * Whether pages of browsers may use it. Programs send no `Origin`. @default false
   */
  readonly pages?: boolean;
}

/** The name in a `Host` header, without its port. Tunnels and proxies have ports of their own. */
const nameIn = (host: string): string => host.toLowerCase().replace(/:\d*$/, '');

/**
 * Why a request may not come in; undefined if it may.
 *
 * @returns a sentence for whoever sent it
 */
export const findRefusal = (
  { headers }: Pick<IncomingMessage, 'headers'>,
  { hosts = [], hostsSetting, pages = false }: Doorkeeping,
): string | undefined => {
  const { host = '', origin } = headers;
  const name = nameIn(host);
  if (!ownNames.has(name) && !hosts.includes(name))
    return `The host ${name} is none of this service: use localhost or ${loopback}${hostsSetting === undefined ? '' : `, or name it in ${hostsSetting}`}`;
  if (!pages && origin !== undefined) return `No page may use this port, also none of ${origin}`;
  return undefined;
};

/** Answers a request that may not come in. */
const refuse = (req: IncomingMessage, res: ServerResponse, message: string): void => {
  req.resume();
  res
    .writeHead(403, {
      'content-type': 'application/json',
      'x-content-type-options': 'nosniff',
      connection: 'close',
    })
    .end(JSON.stringify({ message }));
};

/** Lets those requests through to a listener that may come in. */
export const guarded =
  (listener: RequestListener, doorkeeping: Doorkeeping = {}): RequestListener =>
  (req, res) => {
    const refusal = findRefusal(req, doorkeeping);
    if (refusal === undefined) listener(req, res);
    else refuse(req, res, refusal);
  };
