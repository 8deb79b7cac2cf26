import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { weavePath } from '../../../api/weave-paths.ts';
import { linkIn, linkInPage } from '../../../core/doors/weave/links.ts';
import type { ErrorBody } from '../../../foundations/wire/index.ts';
import { everyAnswer, jsonText } from '../http/answer.ts';
import { getHeader } from '../http/headers.ts';
import { compressedOnly, maxPlainBytes, preferredCoding } from '../http/negotiate.ts';

/** The name of the page's one document. */
export const index = 'index.html';

export interface PageFile {
  /** Its content type. */
  readonly type: string;
  /** A strong entity tag, the same for the same content. */
  readonly etag: string;
}

/** The codings that each file is kept in, with the ends of their names. */
const codings = { br: '.br', gzip: '.gz' } as const;

const compressions = ['br', 'gzip'] as const satisfies readonly (keyof typeof codings)[];

/** How a file is encoded. */
type Coding = keyof typeof codings | 'identity';

export interface PageFiles {
  /** A file by its name; undefined if the page has none of that name. */
  readonly find: (name: string) => PageFile | undefined;
  /** The bytes of a file that was found. */
  readonly read: (name: string, coding: Coding) => Uint8Array;
}

/**
 * The files in a folder with the list `files.json`. Only what the list names is ever read, each
 * once: requests never choose a path.
 */
export const filesIn = (folder: string): PageFiles => {
  const list = new Map(
    Object.entries(JSON.parse(readFileSync(join(folder, 'files.json'), 'utf8')) as Record<string, PageFile>),
  );
  const read = new Map<string, Uint8Array>();
  return {
    find: (name) => list.get(name),
    read: (name, coding) => {
      const path = `${name}${coding === 'identity' ? '' : codings[coding]}`;
      const bytes = read.get(path) ?? readFileSync(join(folder, path));
      read.set(path, bytes);
      return bytes;
    },
  };
};

/**
 * What the page's document may do. Calls hold text from anywhere, so nothing in them may ever run
 * or reach another host. Scripts and styles come from the page's own files, images and sound only from data
 * in a call. No script can turn text into markup (Trusted Types without a policy). Where people sign in, the page
 * exchanges codes for tokens.
 */
const toPolicy = (tokenEndpoint: string | undefined): Readonly<Record<string, string>> => ({
  'default-src': "'none'",
  'script-src': "'self'",
  'style-src': "'self'",
  'font-src': "'self'",
  'img-src': "'self' data: blob:",
  'media-src': 'data:',
  'connect-src': `'self'${tokenEndpoint === undefined ? '' : ` ${toSource(tokenEndpoint)}`}`,
  'base-uri': "'self'",
  'form-action': "'none'",
  'frame-ancestors': "'none'",
  'require-trusted-types-for': "'script'",
  'trusted-types': "'none'",
});

/**
 * A URL as a source of a policy: its path alone is allowed, no other. Commas and semicolons would end the
 * directive.
 */
const toSource = (url: string): string => {
  const { origin, pathname } = new URL(url);
  return origin + pathname.replace(/[;,]/g, encodeURIComponent);
};

/** The headers of the page's document. */
const securityHeaders = (tokenEndpoint: string | undefined): Readonly<Record<string, string>> => ({
  'content-security-policy': Object.entries(toPolicy(tokenEndpoint))
    .map((directive) => directive.join(' '))
    .join('; '),
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=()',
  'x-frame-options': 'DENY',
});

/** What the page is made of. */
interface PageSources {
  readonly files: PageFiles;
  /** Where the page exchanges codes for tokens; undefined if people only use keys. */
  readonly findTokenEndpoint: () => Promise<string | undefined>;
}

/** What the page needs to know of a request. */
export type PageRequest = Pick<APIGatewayProxyEvent, 'path' | 'headers'> & {
  /** @default - none, as for a path without parameters */
  readonly pathParameters?: APIGatewayProxyEvent['pathParameters'];
  readonly requestContext: Pick<APIGatewayProxyEvent['requestContext'], 'path' | 'requestId'>;
};

/** Status, headers and bytes. */
interface PageAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array | string;
}

const mount = '/ui';

const header = (request: PageRequest, name: string): string => getHeader(request, name) ?? '';

/** The service's shape of an error, for whoever is no browser or asks for what there is not. */
const failed = (status: number, body: ErrorBody): PageAnswer => ({
  status,
  headers: { 'content-type': 'application/json', 'cache-control': 'no-store' },
  body: jsonText(body),
});

const notFound = (msg: string): PageAnswer =>
  failed(404, { detail: [{ loc: ['path'], msg, type: 'not_found' }] });

/** A relative redirect holds below any path, whatever stands before the API. */
const redirect = (location: string): PageAnswer => ({
  status: 302,
  headers: { location, 'content-type': 'text/plain', 'cache-control': 'no-store', vary: 'accept' },
  body: '',
});

/** `GET /`: leads a browser to the page. The stage's own URL may lack its slash. */
const fromRoot = (request: PageRequest): PageAnswer => {
  if (!header(request, 'accept').includes('text/html'))
    return notFound('no such route: GET /openapi.json lists all, with their methods');
  const { path } = request.requestContext;
  const stage = path.endsWith('/') ? '' : `${path.slice(path.lastIndexOf('/') + 1)}/`;
  return redirect(`${stage}ui/`);
};

/**
 * Which file a path below `/ui/` means. The page's own views have one segment without a dot, and
 * all are the one document, whose base is therefore always `./`.
 */
const toFile = (path: string): string => (/^[^/.]*$/.test(path) ? index : path);

const toHeaders = (
  name: string,
  { type, etag }: PageFile,
  tokenEndpoint: string | undefined,
): Record<string, string> => ({
  etag,
  'cache-control': name === index ? 'no-cache' : 'public, max-age=31536000, immutable',
  vary: 'accept-encoding',
  ...(type.startsWith('text/html') && securityHeaders(tokenEndpoint)),
});

const fromFile = async (
  request: PageRequest,
  { files, findTokenEndpoint }: PageSources,
  name: string,
): Promise<PageAnswer> => {
  const file = files.find(name);
  if (!file) return notFound('the page has no such file: load it again, it may be from before an update');
  const headers = toHeaders(name, file, name === index ? await findTokenEndpoint() : undefined);
  const known = header(request, 'if-none-match').split(',');
  if (known.some((tag) => tag.trim().replace(/^W\//, '') === file.etag))
    return { status: 304, headers, body: '' };
  const coding = preferredCoding(request, compressions) ?? 'identity';
  const body = files.read(name, coding);
  if (coding === 'identity' && body.length > maxPlainBytes) {
    const { headers: others, ...answer } = failed(406, compressedOnly(compressions));
    return { ...answer, headers: { ...others, vary: 'accept-encoding' } };
  }
  return {
    status: 200,
    headers: {
      ...headers,
      'content-type': file.type,
      ...(coding !== 'identity' && { 'content-encoding': coding }),
    },
    body,
  };
};

/** A link that Weave's SDKs print: leads to the page. Undefined if the path is none. */
const fromLink = ({ path, pathParameters }: PageRequest): PageAnswer | undefined => {
  const { entity, project, id, proxy } = pathParameters ?? {};
  const isNamed = entity !== undefined && project !== undefined;
  const link = isNamed
    ? { entity, project, id, proxy }
    : path.startsWith(`${weavePath}/`)
      ? linkIn(proxy ?? '')
      : undefined;
  if (!link) return undefined;
  const base = path
    .split('/')
    .slice(3)
    .reduce((up) => `${up}/..`, '..');
  return redirect(linkInPage(base, link));
};

const answered = async (request: PageRequest, sources: PageSources): Promise<PageAnswer> => {
  const { path } = request;
  const link = fromLink(request);
  if (link) return link;
  if (path === mount) return redirect('ui/');
  if (path.startsWith(`${weavePath}/`)) return notFound('no such link: those of Weave’s SDKs name a project');
  if (!path.startsWith(`${mount}/`)) return fromRoot(request);
  return fromFile(request, sources, toFile(path.slice(mount.length + 1)));
};

/**
 * Answers a request for the page: the document for its views, a file, a redirect to the page, or a
 * 404. It reads the page's own files, and for the document also where the page exchanges codes.
 */
export const pageAnswer = async (request: PageRequest, sources: PageSources): Promise<PageAnswer> => {
  const answer = await answered(request, sources);
  return {
    ...answer,
    headers: {
      ...answer.headers,
      ...everyAnswer(request.requestContext.requestId),
    },
  };
};
