import { asString, isObject } from './values.ts';

/*
 * Sound, documents and other files within messages and values, in the shapes of OpenAI, Anthropic, Bedrock,
 * Gemini, LangChain, the AI SDK, OpenTelemetry and Weave.
 */

/** Where the bytes of a file are: in the call, in the project's files, elsewhere, or nowhere. */
export type FileSource =
  | { readonly in: 'call'; readonly base64: string }
  | { readonly in: 'text'; readonly text: string }
  | {
      readonly in: 'files';
      readonly digest: string;
      /** The file that says what it is: Weave's `metadata.json`. */
      readonly about?: string;
    }
  | { readonly in: 'url'; readonly url: string }
  | { readonly in: 'nowhere'; readonly id: string };

/** A file within a call. */
export interface CallFile {
  /** Its media type; undefined if nothing tells. */
  readonly type: string | undefined;
  readonly name?: string;
  /** What is said in it, as who made it tells. */
  readonly transcript?: string;
  readonly source: FileSource;
}

type Fields = Readonly<Record<string, unknown>>;

/** Media types by what APIs and the ends of names call them. */
const typesByFormat: Readonly<Record<string, string>> = {
  wav: 'audio/wav',
  mp3: 'audio/mpeg',
  mpeg: 'audio/mpeg',
  mpga: 'audio/mpeg',
  m4a: 'audio/mp4',
  aac: 'audio/aac',
  flac: 'audio/flac',
  ogg: 'audio/ogg',
  opus: 'audio/ogg',
  webm: 'audio/webm',
  mp4: 'video/mp4',
  pdf: 'application/pdf',
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  csv: 'text/csv',
  txt: 'text/plain',
  md: 'text/markdown',
  html: 'text/html',
  json: 'application/json',
  doc: 'application/msword',
  docx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  xls: 'application/vnd.ms-excel',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
};

const ofFormat = (format: unknown): string | undefined => {
  const name = asString(format)?.toLowerCase();
  return name !== undefined && Object.hasOwn(typesByFormat, name) ? typesByFormat[name] : undefined;
};

const ofName = (name: string | undefined): string | undefined => ofFormat(/\.(\w+)$/.exec(name ?? '')?.[1]);

/** How files begin, in base64. */
const beginnings: readonly (readonly [beginning: RegExp, type: string])[] = [
  [/^JVBERi/, 'application/pdf'],
  [/^UklGR.{6}XQVZF/, 'audio/wav'],
  [/^(?:SUQz|\/\/[sOvu])/, 'audio/mpeg'],
  [/^T2dnUw/, 'audio/ogg'],
  [/^ZkxhQ/, 'audio/flac'],
  [/^iVBORw0KGgo/, 'image/png'],
  [/^\/9j\//, 'image/jpeg'],
];

/** The media type that bytes begin like; undefined for none that is known. */
export const guessType = (base64: string): string | undefined =>
  beginnings.find(([beginning]) => beginning.test(base64.slice(0, 24)))?.[1];

/** `data:` URLs, of which only the beginning is looked at: a test of all would take as long as it is. */
const dataUrl = /^data:([\w.+-]+\/[\w.+-]+)?(?:;[\w.+-]+=[^;,]*)*;base64,/;

interface Said {
  readonly type?: unknown;
  readonly format?: unknown;
  readonly name?: unknown;
  readonly transcript?: unknown;
}

const compact = ({ type, format, name, transcript }: Said, source: FileSource): CallFile => {
  const ownName = asString(name) || undefined;
  const own = asString(type)?.split(';', 1)[0]?.trim().toLowerCase();
  const said = asString(transcript) || undefined;
  return {
    type:
      (own && /^[\w.+-]+\/[\w.+-]+$/.test(own) ? own : undefined) ??
      ofFormat(format) ??
      ofName(ownName) ??
      (source.in === 'call' ? guessType(source.base64) : undefined),
    ...(ownName !== undefined && { name: ownName }),
    ...(said !== undefined && { transcript: said }),
    source,
  };
};

/** A file by a text that is its bytes in base64, a `data:` URL or any other; undefined for no text. */
const byText = (text: unknown, said: Said, isUrl = false): CallFile | undefined => {
  if (typeof text !== 'string' || text === '') return undefined;
  const [head, type] = dataUrl.exec(text.slice(0, 300)) ?? [];
  if (head !== undefined)
    return compact({ ...said, type: said.type ?? type }, { in: 'call', base64: text.slice(head.length) });
  const isAddress = isUrl || /^(?:https?|gs|s3):\/\//.test(text.slice(0, 10));
  return compact(said, isAddress ? { in: 'url', url: text } : { in: 'call', base64: text });
};

const byId = (id: unknown, said: Said): CallFile | undefined =>
  typeof id === 'string' && id !== '' ? compact(said, { in: 'nowhere', id }) : undefined;

/** Anthropic's and Bedrock's `source`. */
const bySource = (source: Fields, said: Said): CallFile | undefined => {
  const type = said.type ?? source.media_type;
  const known = { ...said, type };
  if (source.type === 'text' && typeof source.data === 'string')
    return compact({ ...known, type: type ?? 'text/plain' }, { in: 'text', text: source.data });
  const location = isObject(source.s3Location) ? source.s3Location.uri : undefined;
  return (
    byText(source.data ?? source.bytes, known) ??
    byText(source.url ?? location, known, true) ??
    byId(source.file_id, known)
  );
};

/** Parts that say by their `type` that they are files. */
const typedFile = (part: Fields): CallFile | undefined => {
  const { input_audio: audio, file, source } = part;
  const mime = part.mime_type ?? part.mediaType ?? part.mimeType ?? part.media_type;
  const name = part.filename ?? part.file_name ?? part.title ?? part.name;
  const said = { type: mime, name };
  switch (part.type) {
    case 'input_audio':
      return isObject(audio) ? byText(audio.data, { format: audio.format }) : undefined;
    case 'file':
      if (isObject(file))
        return (
          byText(file.file_data, { name: file.filename, type: file.format }) ??
          byId(file.file_id, { name: file.filename })
        );
      return (
        byText(part.data ?? part.base64, said) ??
        byText(part.url, said, true) ??
        byId(part.file_id ?? part.id, said)
      );
    case 'input_file':
      return byText(part.file_data, said) ?? byText(part.file_url, said, true) ?? byId(part.file_id, said);
    case 'document':
      return isObject(source) ? bySource(source, said) : undefined;
    case 'audio':
    case 'video':
      return byText(part.data ?? part.base64, said) ?? byText(part.url, said, true);
    case 'blob':
      return byText(part.content, said);
    case 'uri':
      return byText(part.uri, said, true);
    default:
      return undefined;
  }
};

/** Gemini's parts, and Bedrock's, which say what they are by their only key. */
const keyedFile = (part: Fields): CallFile | undefined => {
  const inline = part.inline_data ?? part.inlineData;
  if (isObject(inline)) return byText(inline.data, { type: inline.mime_type ?? inline.mimeType });
  const remote = part.file_data ?? part.fileData;
  if (isObject(remote))
    return byText(remote.file_uri ?? remote.fileUri, { type: remote.mime_type ?? remote.mimeType }, true);
  const bedrock = part.document ?? part.audio ?? part.video;
  if (isObject(bedrock) && isObject(bedrock.source) && typeof bedrock.format === 'string')
    return bySource(bedrock.source, { format: bedrock.format, name: bedrock.name });
  return undefined;
};

/** Weave's `Content` and other files that it stores beside calls. */
const weaveFile = (value: Fields): CallFile | undefined => {
  if (value._type !== 'CustomWeaveType' || !isObject(value.files) || !isObject(value.weave_type))
    return undefined;
  // Ops are stored so too.
  if (value.weave_type.type === 'Op') return undefined;
  const { 'metadata.json': about, ...others } = value.files;
  const [entry] = Object.entries(others);
  if (!entry || typeof entry[1] !== 'string') return undefined;
  const [name, digest] = entry;
  const isNamed = name !== 'content';
  const source: FileSource = {
    in: 'files',
    digest,
    ...(typeof about === 'string' && { about }),
  };
  return compact(isNamed ? { name } : {}, source);
};

/** The file that a part of a message or a value is; undefined if it is none. */
export const toFile = (value: unknown): CallFile | undefined => {
  if (!isObject(value)) return undefined;
  return weaveFile(value) ?? typedFile(value) ?? keyedFile(value);
};

/** The sound of an answer of OpenAI: `message.audio`. */
export const soundOf = (message: Fields): CallFile | undefined => {
  const { audio } = message;
  if (!isObject(audio)) return undefined;
  const { data, transcript, format, id } = audio;
  return byText(data, { format, transcript }) ?? byId(id, { type: 'audio/wav', transcript });
};

/** How many files of a value are shown at most. */
const maxFiles = 20;

/** The files that the fields of a value are, or the value itself. */
export const filesIn = (value: unknown): CallFile[] => {
  const own = toFile(value);
  if (own) return [own];
  const members = Array.isArray(value) ? value : isObject(value) ? Object.values(value) : [];
  return members
    .slice(0, 1000)
    .flatMap((member) => toFile(member) ?? dataFile(member) ?? [])
    .slice(0, maxFiles);
};

/** A text that is a `data:` URL of a file that is no image. */
const dataFile = (value: unknown): CallFile | undefined =>
  typeof value === 'string' && dataUrl.test(value.slice(0, 300)) && !value.startsWith('data:image/')
    ? byText(value, {})
    : undefined;

/** About how many bytes a file has; undefined if its bytes are elsewhere. */
export const sizeOf = ({ source }: CallFile): number | undefined => {
  if (source.in === 'text') return new TextEncoder().encode(source.text).length;
  if (source.in !== 'call') return undefined;
  const { length } = source.base64;
  return Math.max(
    0,
    Math.floor((length * 3) / 4) - (source.base64.endsWith('==') ? 2 : Number(source.base64.endsWith('='))),
  );
};

/** What to call a file that is saved: a name without a path, with the end of its type. */
export const fileName = ({ name, type }: Pick<CallFile, 'name' | 'type'>): string => {
  const base = (name ?? '').replace(/^.*[/\\]/, '').replace(/[\p{Cc}<>:"|?*]/gu, '_');
  const end = Object.entries(typesByFormat).find(([, known]) => known === type)?.[0];
  if (base !== '' && /\.\w+$/.test(base)) return base;
  return `${base || 'file'}${end === undefined ? '' : `.${end}`}`;
};
