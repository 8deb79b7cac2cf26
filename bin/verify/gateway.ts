import { type ConnectionOptions, connect } from 'node:tls';
import { ask, list, must, NotTried, Red, type Target, theLog } from './check.ts';

/**
 * The version of TLS that a server agrees to.
 *
 * @returns undefined if it refuses
 */
const agreedVersion = (url: URL, options: ConnectionOptions): Promise<string | undefined> =>
  new Promise((resolve) => {
    const socket = connect({
      host: url.hostname,
      port: Number(url.port || 443),
      // fetch checks certificates. Here only the version counts, and nothing is sent.
      rejectUnauthorized: false,
      ...options,
    });
    socket.setTimeout(10_000, () => socket.destroy());
    socket.once('secureConnect', () => {
      resolve(socket.getProtocol() ?? undefined);
      socket.destroy();
    });
    socket.once('error', () => resolve(undefined));
    socket.once('close', () => resolve(undefined));
  });

/** The gateway speaks TLS 1.2 or 1.3, and nothing older. */
export const tls = async ({ url }: Pick<Target, 'url'>): Promise<void> => {
  const target = new URL(url);
  if (target.protocol !== 'https:') throw new NotTried(`${url} has no TLS`);
  const advice = `see ${list}: the TLS policy`;
  // OpenSSL offers old versions only at the lowest level of security.
  const ciphers = 'DEFAULT@SECLEVEL=0';
  const old = await agreedVersion(target, { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers });
  must(old === undefined, `it agrees to ${old}`, advice);
  for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
    const agreed = await agreedVersion(target, { minVersion: version, maxVersion: version });
    must(agreed === version, `it refuses ${version}`, advice);
  }
};

/** The most requests that are sent, in waves, to reach the stage's limit. */
const most = 20_000;
const wave = 500;

/** Beyond the limit of the stage, requests get the service's 429. */
export const throttling = async (target: Target): Promise<void> => {
  if (!target.disturb) throw new NotTried('other callers would get 429s for a moment: --disturb');
  for (let sent = 0; sent < most; sent += wave) {
    const answers = await Promise.all(
      Array.from({ length: wave }, async () => {
        // Routes without a key have throttles of their own.
        const answer = await ask(target, '/me');
        return {
          status: answer.status,
          retryAfter: answer.headers.get('retry-after'),
          text: await answer.text(),
        };
      }),
    );
    const refused = answers.find(({ status }) => status !== 200);
    if (!refused) continue;
    const { status, retryAfter, text } = refused;
    if (status === 429 && retryAfter !== null && text.includes('"detail"')) return;
    throw new Red(
      `too many requests get ${status} ${text.slice(0, 100)} (Retry-After: ${retryAfter})`,
      'docs/decisions/0024: what the gateway answers by itself',
    );
  }
  throw new NotTried(
    `${most} requests from here do not reach throttleRate and throttleBurst: lower them for a try`,
  );
};

/** The page and its script load. */
export const page = async ({ url }: Target): Promise<void> => {
  const headers = { accept: 'text/html' };
  const answer = await fetch(`${url}/`, { headers });
  const text = await answer.text();
  const type = answer.headers.get('content-type') ?? '';
  must(
    answer.status === 200 && type.startsWith('text/html'),
    `GET / leads to ${answer.status} ${type}`,
    theLog,
  );
  must(
    answer.url.endsWith('/ui/'),
    `GET / leads to ${answer.url}`,
    'see docs/decisions/0176: relative addresses',
  );
  const [, script] = /<script[^>]* src="([^"]+)"/.exec(text) ?? [];
  must(script !== undefined, 'the page has no script', theLog);
  const code = await fetch(new URL(script ?? '', answer.url));
  must(code.status === 200, `the page’s script is ${code.status}`, theLog);
  await code.arrayBuffer();
};
