import { linksOf } from '../../../foundations/links.ts';

/** The parameters of the paths of `sdkLinks` in `api/service.ts`. */
export interface SdkLink {
  readonly entity: string;
  readonly project: string;
  /** A call. */
  readonly id?: string | undefined;
  /** What of the project: `objects/<name>/versions/<digest>`, `ops/…`, `leaderboards/<name>`. */
  readonly proxy?: string | undefined;
}

/**
 * Where a link that Weave's SDKs print leads in the page: to the call, the object, or the project's
 * traces.
 *
 * @param base what stands before `/ui/`
 */
export const linkInPage = (base: string, { entity, project: name, id, proxy = '' }: SdkLink): string => {
  const links = linksOf(base);
  const project = `${entity}/${name}`;
  if (id !== undefined) return links.call(project, id);
  const [kind, of, , version] = proxy.split('/');
  if (of && kind === 'calls') return links.call(project, of);
  if (of && (kind === 'objects' || kind === 'ops')) return links.object(project, of, version || undefined);
  return kind === 'leaderboards' ? links.evaluations(project) : links.project(project);
};
