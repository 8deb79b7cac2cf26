import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Failure } from '../common.ts';

/*
 * Where an issuer leads the browser back to: a port of this machine, for as long as a sign-in takes (RFC 8252, 7.3).
 */

/** A page of plain text, which loads nothing. */
const sendPage = (res: ServerResponse, status: number, text: string): void => {
  const headers = {
    'content-type': 'text/plain; charset=utf-8',
    'cache-control': 'no-store',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    connection: 'close',
  };
  res.writeHead(status, headers).end(`${text}\n`);
};

/** How long a browser may take to read its page, in ms. */
const readMs = 2000;

/** Answers a browser, and waits until it has the page or is gone. */
const showPage = async (res: ServerResponse, status: number, text: string): Promise<void> => {
  if (res.destroyed) return;
  const closed = once(res, 'close', { signal: AbortSignal.timeout(readMs) }).catch(() => {});
  sendPage(res, status, text);
  await closed;
};

/** A browser that came back, which waits for what becomes of it. */
export interface Returned {
  readonly parameters: URLSearchParams;
  /** Answers it, and resolves when that is sent. */
  readonly show: (status: number, text: string) => Promise<void>;
}

/** A port that waits for a browser. */
export interface Loopback extends AsyncDisposable {
  /** Where the issuer has to lead back to, with the port. */
  readonly redirectUri: string;
  /**
   * Waits for the browser of one sign-in. Whoever comes with something else is turned away, and does not end it.
   *
   * @param stranger is called for each browser that belongs to another sign-in
   * @throws Failure if it does not come in time
   */
  readonly wait: (state: string, seconds: number, stranger: () => void) => Promise<Returned>;
}

/** Whether a URL is one that an issuer may lead commands to: `http:`, on this machine, without a query. */
export const isLoopbackUrl = (text: string): boolean => {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, username, password, search, hash } = new URL(text);
  const isOwn = ['127.0.0.1', 'localhost', '[::1]'].includes(hostname);
  return protocol === 'http:' && isOwn && !username && !password && !search && !hash && !text.includes('#');
};

const tooLate = (seconds: number) =>
  new Failure(
    `nobody signed in within ${seconds} s: run it again, and open the address that it prints in a browser of this machine`,
  );

const portTaken = (port: string) =>
  new Failure(
    `port ${port} is in use: does another sign-in wait there? End it, or name another address that the issuer ` +
      'takes with --redirect-uri',
  );

/**
 * Listens where an issuer leads back to.
 *
 * @param uri a URL by `isLoopbackUrl`; one without a port gets any free one
 * @throws Failure if its port is in use
 */
export const listenAt = async (uri: string): Promise<Loopback> => {
  const url = new URL(uri);
  const server = createServer();
  const address = url.hostname === '[::1]' ? '::1' : '127.0.0.1';
  server.listen(Number(url.port), address);
  await once(server, 'listening').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'EADDRINUSE') throw portTaken(url.port);
    throw new Failure(`nothing can listen at ${uri}: ${error.code}`, { cause: error });
  });
  const hasPort = url.port !== '';
  url.port = String((server.address() as AddressInfo).port);
  const redirectUri = hasPort ? uri : url.href;

  const wait: Loopback['wait'] = async (state, seconds, stranger) => {
    let late: NodeJS.Timeout | undefined;
    let came = false;
    const returned = new Promise<Returned>((resolve, reject) => {
      late = setTimeout(() => reject(tooLate(seconds)), seconds * 1000);
      server.on('request', (req, res) => {
        const at = new URL(req.url ?? '/', url);
        // A name that resolves to this machine is some other page's.
        if (req.headers.host !== url.host || at.pathname !== url.pathname)
          return sendPage(res, 404, 'Not found.');
        if (req.method !== 'GET') return sendPage(res, 405, 'Only GET.');
        if (at.searchParams.get('state') !== state) {
          stranger();
          return sendPage(
            res,
            400,
            'This page belongs to another sign-in. Open the address that was printed last.',
          );
        }
        if (came) return sendPage(res, 409, 'This sign-in has come back already: look at the terminal.');
        came = true;
        resolve({ parameters: at.searchParams, show: (status, text) => showPage(res, status, text) });
      });
    });
    return returned.finally(() => clearTimeout(late));
  };

  return {
    redirectUri,
    wait,
    [Symbol.asyncDispose]: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
};
