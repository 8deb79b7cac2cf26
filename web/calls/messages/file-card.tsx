import { useSearch } from '@tanstack/react-router';
import { FileText, type LucideIcon, Music, Paperclip } from 'lucide-react';
import { useState } from 'react';
import { type CallFile, fileName, guessType, sizeOf } from '../../../api/shared/files.ts';
import { bytesText } from '../../data/format.ts';
import { isObject, jsonIn } from '../../data/values.ts';
import { useSession } from '../../session/session.tsx';
import { Button, Notice } from '../../ui/controls.tsx';
import { openFile, saveFile } from '../../ui/save-file.ts';
import { getImage, LongText } from '../../ui/text.tsx';
import { useWork } from '../../ui/work.ts';

const pdf = 'application/pdf';

const isSound = (type: string | undefined): boolean => /^audio\/[\w.+-]+$/.test(type ?? '');

const iconOf = (type: string | undefined): LucideIcon =>
  isSound(type) ? Music : type === pdf || type?.startsWith('text/') ? FileText : Paperclip;

/** The bytes of base64, also of that for URLs. Throws an Error for anything else. */
const toBytes = (base64: string): Uint8Array<ArrayBuffer> => {
  const text = atob(base64.replaceAll('-', '+').replaceAll('_', '/'));
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
};

const toBase64 = async (blob: Blob): Promise<string> => {
  const bytes = new Uint8Array(await blob.arrayBuffer());
  const pieces: string[] = [];
  for (let at = 0; at < bytes.length; at += 30_000)
    pieces.push(String.fromCharCode(...bytes.subarray(at, at + 30_000)));
  return btoa(pieces.join(''));
};

/** Loads a file that is stored beside calls, with what is known of it there. */
const useStoredFile = (project: string, file: CallFile) => {
  const { client } = useSession();
  const [loaded, setLoaded] = useState<CallFile>();
  const { isBusy, error, run } = useWork();
  const { source } = file;
  const load = () =>
    run(async () => {
      if (source.in !== 'files') return;
      const read = (digest: string) =>
        client.download('/file/content', { project_id: project, digest }, 'application/octet-stream');
      const about = source.about === undefined ? undefined : jsonIn(await (await read(source.about)).text());
      const { mimetype, filename } = isObject(about) ? about : {};
      const base64 = await toBase64(await read(source.digest));
      const name = typeof filename === 'string' && filename !== '' ? filename : file.name;
      setLoaded({
        type: typeof mimetype === 'string' ? mimetype : (file.type ?? guessType(base64)),
        ...(name !== undefined && { name }),
        source: { in: 'call', base64 },
      });
    });
  return { shown: loaded ?? file, isBusy, error, load };
};

/** The file as bytes. Of no type that a browser would run. */
const toBlob = ({ source, type }: CallFile): Blob => {
  const bytes = source.in === 'call' ? [toBytes(source.base64)] : source.in === 'text' ? [source.text] : [];
  return new Blob(bytes, { type: type === pdf ? pdf : 'application/octet-stream' });
};

/** A document that the browser shows in a viewer of its own: what it is not, it must not be taken for. */
const isPdf = ({ source, type }: CallFile): boolean =>
  type === pdf && source.in === 'call' && guessType(source.base64) === pdf;

const Address = ({ url }: { url: string }) =>
  /^https?:\/\//i.test(url) ? (
    <a href={url} target="_blank" rel="noopener noreferrer" className="break">
      {url.slice(0, 300)}
    </a>
  ) : (
    <span className="break">{url.slice(0, 300)}</span>
  );

/** A file of a call: sound can be heard, an image seen, and anything be saved. Nothing is read from elsewhere. */
export const FileCard = ({ file }: { file: CallFile }) => {
  const { isShared = false } = useSession();
  // Every view that shows messages has its project in the URL.
  const { project = '' } = useSearch({ strict: false }) as { readonly project?: string };
  const { shown, isBusy, error, load } = useStoredFile(project, file);
  const [problem, setProblem] = useState<string>();
  const { source, type, name, transcript } = shown;
  const Icon = iconOf(type);
  const size = sizeOf(shown);
  const here = source.in === 'call' || source.in === 'text';
  const image =
    source.in === 'call' && type?.startsWith('image/')
      ? getImage(`data:${type};base64,${source.base64}`)
      : undefined;
  const withBlob = (use: (blob: Blob) => void) => () => {
    try {
      use(toBlob(shown));
    } catch {
      setProblem('This is not base64, so there are no bytes to show.');
    }
  };
  return (
    <div className="file-card">
      <div className="file-head">
        <Icon />
        <span className="file-name cut" dir="auto">
          {name ?? fileName(shown)}
        </span>
        <span className="facts">
          {type === undefined ? null : <span>{type}</span>}
          {size === undefined ? null : <span>{bytesText(size)}</span>}
        </span>
        <span className="file-actions">
          {source.in === 'files' && !isShared ? (
            <Button kind="quiet" idle={isBusy} onClick={load}>
              {isBusy ? 'Loading…' : 'Load'}
            </Button>
          ) : null}
          {isPdf(shown) ? (
            <Button kind="quiet" onClick={withBlob(openFile)}>
              Open
            </Button>
          ) : null}
          {here ? (
            <Button kind="quiet" onClick={withBlob((blob) => saveFile(blob, fileName(shown)))}>
              Download
            </Button>
          ) : null}
        </span>
      </div>
      {source.in === 'call' && isSound(type) ? (
        // biome-ignore lint/a11y/useMediaCaption: what is said stands below, if it is known
        <audio controls preload="none" src={`data:${type};base64,${source.base64}`} />
      ) : null}
      {image ? <img className="image" src={image} alt={name ?? 'In the call'} /> : null}
      {source.in === 'text' ? <LongText text={source.text} /> : null}
      {transcript === undefined ? null : <LongText text={transcript} />}
      {source.in === 'url' ? (
        <p className="muted">
          Not loaded: <Address url={source.url} />
        </p>
      ) : null}
      {source.in === 'nowhere' ? (
        <p className="muted break">Only its id was reported: {source.id.slice(0, 300)}</p>
      ) : null}
      {source.in === 'files' && isShared ? (
        <p className="muted">A public link does not show stored files.</p>
      ) : null}
      {(error ?? problem) ? <Notice kind="error">{error ?? problem}</Notice> : null}
    </div>
  );
};
