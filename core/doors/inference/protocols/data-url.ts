/** What a `data:` URL holds, in base64. */
export interface Data {
  readonly mediaType: string;
  readonly data: string;
}

const dataUrl = /^data:([^;,]*)((?:;[^;,]*)*),/i;

export const textOfBase64 = (data: string): string => Buffer.from(data, 'base64').toString('utf8');

export const base64OfText = (text: string): string => Buffer.from(text, 'utf8').toString('base64');

const decodePercents = (text: string): string | undefined => {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
};

/** The media type and the base64 of a `data:` URL (RFC 2397); undefined if it is none. */
export const parseDataUrl = (url: string): Data | undefined => {
  const [head, mediaType = '', parameters = ''] = dataUrl.exec(url) ?? [];
  if (head === undefined) return undefined;
  const media = { mediaType: mediaType.toLowerCase() || 'text/plain' };
  const rest = url.slice(head.length);
  if (/;base64$/i.test(parameters)) return { ...media, data: rest };
  const text = decodePercents(rest);
  return text === undefined ? undefined : { ...media, data: base64OfText(text) };
};

export const toDataUrl = ({ mediaType, data }: Data): string => `data:${mediaType};base64,${data}`;
