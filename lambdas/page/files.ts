import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The name of the page's one document. */
export const index = 'index.html';

export interface PageFile {
  /** Its content type. */
  readonly type: string;
  /** A strong entity tag, the same for the same content. */
  readonly etag: string;
}

/** The codings that each file is kept in, with the ends of their names, the best first. */
export const codings = { br: '.br', gzip: '.gz' } as const;

/** How a file is encoded. */
export type Coding = keyof typeof codings | 'identity';

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
