import { isUtf8 } from 'node:buffer';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { invalid, ServiceError } from '../../core/foundations/wire/index.ts';
import { jsonOf } from '../../core/foundations/wire/parse-body.ts';
import { headerOf } from './event.ts';

const jsonType = /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i;

/** The error for a body in another form than its endpoint takes. */
export const unsupported = (header: string, msg: string): ServiceError =>
  new ServiceError(415, [{ loc: ['header', header], msg, type: 'unsupported_media_type' }]);

type SentBody = Pick<APIGatewayProxyEvent, 'headers' | 'body' | 'isBase64Encoded'>;

/** The body's bytes as the client sent them; none if there is no body. */
export const bodyBytes = ({ body, isBase64Encoded }: Omit<SentBody, 'headers'>): Buffer =>
  Buffer.from(body ?? '', isBase64Encoded ? 'base64' : 'utf8');

/** What a decoder writes for bytes that are not UTF-8. */
const replacement = '\ufffd';

const notUtf8 = (text: string): ServiceError => {
  const at = text.indexOf(replacement);
  const msg = `the body is not UTF-8; see its character ${at}`;
  return invalid({ loc: ['body', String(at)], msg, type: 'json_invalid' });
};

/**
 * Whether the gateway has replaced bytes of a body, since it hands bodies over as text. The bytes
 * are gone, but those that stand for them are others in number than `content-length` says
 * (docs/decisions/0166).
 */
const isMended = (event: SentBody, text: string): boolean => {
  if (!text.includes(replacement)) return false;
  const length = headerOf(event, 'content-length') ?? '';
  return /^\d+$/.test(length) && Number(length) !== Buffer.byteLength(text);
};

/**
 * The body as the client sent it; empty if there is none.
 *
 * @throws ServiceError 422 if it is not UTF-8
 */
export const bodyText = (event: SentBody): string => {
  const bytes = event.isBase64Encoded ? bodyBytes(event) : undefined;
  const text = bytes ? bytes.toString('utf8') : (event.body ?? '');
  if (bytes ? !isUtf8(bytes) : isMended(event, text)) throw notUtf8(text);
  return text;
};

/**
 * The body as JSON. A body without a content type counts as JSON.
 *
 * @throws ServiceError 415 if it says that it is something else, 422 if it is not JSON
 */
export const bodyJson = (event: SentBody): unknown => {
  const type = headerOf(event, 'content-type');
  if (type !== undefined && !jsonType.test(type.trim())) {
    throw unsupported('content-type', `should be application/json, not ${type.slice(0, 100)}`);
  }
  const encoding = headerOf(event, 'content-encoding');
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    throw unsupported('content-encoding', 'should be absent: the body is plain JSON');
  }
  return jsonOf(bodyText(event));
};
