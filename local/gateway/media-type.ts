import { type GatewayRequest, headerValues } from './request.ts';

/** The media type of a request's body in lower case, without parameters; empty if it says none. */
export const mediaTypeOf = (request: Pick<GatewayRequest, 'headers'>): string => {
  const [value = ''] = headerValues(request, 'content-type');
  const [type = ''] = value.split(';');
  return type.trim().toLowerCase();
};

/** Whether a media type is one of a list, in which `image/*` stands for all images. */
const isAmong = (type: string, list: readonly string[]): boolean =>
  list.some((entry) => entry === '*/*' || entry === type || entry === `${type.split('/')[0]}/*`);

/** Whether a request's body is of one of the API's binary media types. */
export const isBinary = (
  request: Pick<GatewayRequest, 'headers'>,
  binaryMediaTypes: readonly string[],
): boolean => isAmong(mediaTypeOf(request), binaryMediaTypes);
