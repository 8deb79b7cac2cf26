/**
 * `npm run web`: serves the page from its sources, built anew on each save, in front of the local
 * service, which answers everything else. `PORT` (8788) is where, `SERVICE_URL`
 * (http://127.0.0.1:8787) is the service.
 */
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { resolve } from 'node:path';
import { context } from 'esbuild';
import { asString, isJsonObject } from '../foundations/wire/index.ts';
import { type PageFiles, pageAnswer } from '../lambdas/common/page/answer.ts';
import { type BuiltPage, contentType, pageOptions, toPage } from '../lib/page.ts';

const root = resolve(import.meta.dirname, '..');
const port = Number(process.env.PORT ?? 8788);
const service = new URL(process.env.SERVICE_URL ?? 'http://127.0.0.1:8787');

let page: BuiltPage | undefined;

/** The files as they were built last. Nothing is kept by the browser, and nothing compressed, whatever is asked for. */
const toFiles = ({ files }: BuiltPage): PageFiles => ({
  find: (name) => (files.has(name) ? { type: contentType(name), etag: `"${Date.now()}"` } : undefined),
  read: (name) => files.get(name) ?? Buffer.alloc(0),
});

/** Where the service has people exchange codes for tokens; undefined if they only use keys. */
const findTokenEndpoint = async (): Promise<string | undefined> => {
  const answer = await fetch(new URL('/sign-in', service)).catch(() => undefined);
  const said: unknown = answer?.ok ? await answer.json().catch(() => undefined) : undefined;
  return isJsonObject(said) ? asString(said.token_endpoint) : undefined;
};

const servePage = async (path: string, { headers }: IncomingMessage, res: ServerResponse): Promise<void> => {
  if (!page) {
    res.writeHead(503, { 'content-type': 'text/plain' }).end('the page does not build: see the terminal\n');
    return;
  }
  const event = {
    path,
    headers: { accept: headers.accept ?? '', 'accept-encoding': 'br' },
    requestContext: { path, requestId: 'local' },
  };
  const answer = await pageAnswer(event, { files: toFiles(page), findTokenEndpoint });
  const { 'content-encoding': _none, ...kept } = answer.headers;
  res.writeHead(answer.status, { ...kept, 'cache-control': 'no-store' }).end(answer.body);
};

/** Passes a request on to the service, and its answer back as it comes. */
const pass = (req: IncomingMessage, res: ServerResponse): void => {
  const { method, headers } = req;
  const onward = request(new URL(req.url ?? '/', service), { method, headers }, (answer) => {
    res.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(res);
  });
  onward.on('error', () => {
    if (res.headersSent) res.destroy();
    else
      res
        .writeHead(502, { 'content-type': 'text/plain' })
        .end(`no service at ${service.origin}: npm start\n`);
  });
  res.on('close', () => onward.destroy());
  req.pipe(onward);
};

const builder = await context({
  ...pageOptions,
  absWorkingDir: root,
  minify: false,
  sourcemap: 'inline',
  plugins: [
    ...(pageOptions.plugins ?? []),
    {
      name: 'take',
      setup: ({ onEnd }) => {
        onEnd((result) => {
          if (result.errors.length > 0) return;
          page = toPage(root, result);
          console.log(`built at ${new Date().toLocaleTimeString()}: load the page again`);
        });
      },
    },
  ],
});
await builder.watch();
const server = createServer((req, res) => {
  const path = new URL(req.url ?? '/', 'http://localhost').pathname;
  if (path === '/' || path === '/ui' || path.startsWith('/ui/')) servePage(path, req, res);
  else pass(req, res);
});
server.once('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EADDRINUSE') throw error;
  console.error(
    `port ${port} is in use: end the process that listens on it, or set PORT (0 for any free port)`,
  );
  process.exit(1);
});
server.listen(port, '127.0.0.1', () => {
  const { port: taken } = server.address() as AddressInfo;
  console.log(`open http://127.0.0.1:${taken}/ui/`);
});
