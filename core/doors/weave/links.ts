import { createLinks } from '../../../foundations/links.ts';

/** What a link is to. */
export interface SdkLink {
  readonly entity: string;
  readonly project: string;
  /** A call. */
  readonly id?: string | undefined;
  /** What of the project: `objects/<name>/versions/<digest>`, `ops/…`, `leaderboards/<name>`. */
  readonly proxy?: string | undefined;
}

/** The links of the SDKs: `<entity>/<project>/weave…` and `<entity>/<project>/r/call/<id>`. */
const links = /^([^/]+)\/([^/]+)\/(?:weave(?:\/(.*))?|r\/call\/(.+))$/;

/** The link of a path, without its leading slash; undefined if it is none. */
export const linkIn = (path: string): SdkLink | undefined => {
  const [, entity, project, proxy, id] = links.exec(path) ?? [];
  return entity === undefined || project === undefined ? undefined : { entity, project, id, proxy };
};

/**
 * Where a link that Weave's SDKs print leads in the page: to the call, the object, or the project's
 * traces.
 *
 * @param base what stands before `/ui/`
 */
export const linkInPage = (base: string, { entity, project: name, id, proxy = '' }: SdkLink): string => {
  const links = createLinks(base);
  const project = `${entity}/${name}`;
  if (id !== undefined) return links.call(project, id);
  const [kind, target, , version] = proxy.split('/');
  if (target && kind === 'calls') return links.call(project, target);
  if (target && (kind === 'objects' || kind === 'ops'))
    return links.object(project, target, version || undefined);
  return kind === 'leaderboards' ? links.evaluations(project) : links.project(project);
};
