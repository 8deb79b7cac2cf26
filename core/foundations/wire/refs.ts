import type { WireNames } from './names.ts';
import { type ProjectId, parseProjectId } from './project.ts';

/** A ref, parsed: the object, op or call that it names, and its project. */
export type Ref =
  | {
      readonly kind: 'object' | 'op';
      readonly projectId: ProjectId;
      readonly name: string;
      readonly digest: string;
      /** The path into an object's value, without its leading slash; empty if there is none. */
      readonly path: string;
    }
  | { readonly kind: 'call'; readonly projectId: ProjectId; readonly callId: string };

const named = /^([^/:]+):([^/:]+)(?:\/(.+))?$/u;

/** A ref to a table, `<service>:///<entity>/<project>/table/<digest>`, parsed. */
export interface TableRef {
  readonly projectId: ProjectId;
  readonly digest: string;
}

/**
 * Parses a ref to a table.
 *
 * @returns undefined if the text is none
 */
export const parseTableRef = (names: WireNames, text: string): TableRef | undefined => {
  if (!text.startsWith(names.refScheme)) return undefined;
  const [entity, project, kind, digest, ...rest] = text.slice(names.refScheme.length).split('/');
  const projectId = parseProjectId(`${entity}/${project}`);
  if (projectId === undefined || kind !== 'table' || !digest || rest.length > 0) return undefined;
  return { projectId, digest };
};

/**
 * Parses a ref to an object or op, `<service>:///<entity>/<project>/<object|op>/<name>:<digest>`,
 * or to a call, `<service>:///<entity>/<project>/call/<id>`. A path may follow an object's digest.
 *
 * @returns the ref; undefined if the text is none
 */
export const parseRef = (names: WireNames, text: string): Ref | undefined => {
  if (!text.startsWith(names.refScheme)) return undefined;
  const [entity, project, kind, ...rest] = text.slice(names.refScheme.length).split('/');
  const projectId = parseProjectId(`${entity}/${project}`);
  const tail = rest.join('/');
  if (projectId === undefined || tail === '') return undefined;
  if (kind === 'call') return { kind, projectId, callId: tail };
  if (kind !== 'object' && kind !== 'op') return undefined;
  const [, name, digest, path = ''] = named.exec(tail) ?? [];
  if (name === undefined || digest === undefined || (kind === 'op' && path !== '')) return undefined;
  return { kind, projectId, name, digest, path };
};

/** The ref of a call: `<service>:///<entity>/<project>/call/<id>`. */
export const callRef = (names: WireNames, projectId: ProjectId, callId: string): string =>
  `${names.refScheme}${projectId}/call/${callId}`;
