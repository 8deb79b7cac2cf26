import { promisify } from 'node:util';
import { gunzip, inflate } from 'node:zlib';
import { maxBodyBytes } from './body.ts';
import { isBinary } from './media-type.ts';
import { Refusal } from './refusal.ts';
import { type GatewayRequest, headerValues } from './request.ts';

const unpackers = { gzip: promisify(gunzip), deflate: promisify(inflate) };

/**
 * Unpacks a text body by its `content-encoding`, as API Gateway documents it
 * (https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-make-request-with-compressed-payload.html).
 * Bodies of binary media types stay packed. For those the documentation says both: that bodies are
 * unpacked, and that functions get them as they are.
 *
 * @throws Refusal UNSUPPORTED_MEDIA_TYPE if the body is packed otherwise, REQUEST_TOO_LARGE above
 * 10 MB
 */
export const unpackText = async (
  request: GatewayRequest,
  body: Buffer,
  binaryMediaTypes: readonly string[],
): Promise<Buffer> => {
  const encoding = headerValues(request, 'content-encoding').join(',').trim().toLowerCase();
  if (encoding === '' || encoding === 'identity' || isBinary(request, binaryMediaTypes)) return body;
  if (encoding !== 'gzip' && encoding !== 'deflate') throw new Refusal('UNSUPPORTED_MEDIA_TYPE');
  try {
    return await unpackers[encoding](body, { maxOutputLength: maxBodyBytes });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Refusal(code === 'ERR_BUFFER_TOO_LARGE' ? 'REQUEST_TOO_LARGE' : 'UNSUPPORTED_MEDIA_TYPE');
  }
};
