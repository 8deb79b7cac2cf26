import {
  type ProjectId,
  parseProjectId,
  projectIdRule,
  type WireNames,
} from '../../foundations/wire/index.ts';
import type { Attributes } from './span.ts';

/** The header that names the project of resources that name none. */
export const projectHeader = 'project_id';

/** A project, or why there is none: a sentence that says what to set. */
export type FoundProject = { readonly projectId: ProjectId } | { readonly problem: string };

const parsed = (place: string, text: string): FoundProject => {
  const projectId = parseProjectId(text);
  return projectId
    ? { projectId }
    : { problem: `${place} is ${JSON.stringify(text.slice(0, 100))}; it ${projectIdRule}` };
};

const textAt = (resource: Attributes, key: string): string | undefined => {
  const value = resource.get(key);
  return typeof value === 'string' && value !== '' ? value : undefined;
};

/** The environment that sets the project of an exporter, for messages. */
const setProject = ({ otelProject }: Pick<WireNames, 'otelProject'>): string =>
  `OTEL_RESOURCE_ATTRIBUTES="${otelProject}=<entity>/<project>"`;

/**
 * The project of a resource: its own attribute, else Weave's `wandb.entity` and `wandb.project`,
 * else the request's header.
 *
 * @param header the `project_id` header; undefined if there is none
 */
export const projectOf = (
  resource: Attributes,
  header: string | undefined,
  names: Pick<WireNames, 'otelProject'>,
): FoundProject => {
  const own = textAt(resource, names.otelProject);
  if (own !== undefined) return parsed(`the resource's ${names.otelProject}`, own);
  const entity = textAt(resource, 'wandb.entity');
  const project = textAt(resource, 'wandb.project');
  if (entity !== undefined && project !== undefined)
    return parsed("the resource's wandb.entity and wandb.project", `${entity}/${project}`);
  if (header !== undefined) return parsed(`the header ${projectHeader}`, header);
  return {
    problem: `no project: set ${setProject(names)}, or the header ${projectHeader}, in the environment of the exporter`,
  };
};
