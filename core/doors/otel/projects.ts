import { allows, type Grant } from '../../foundations/auth/index.ts';
import {
  type ProjectId,
  parseProjectId,
  projectIdRule,
  ServiceError,
  timeRule,
  type WireNames,
} from '../../foundations/wire/index.ts';
import { microsOf, type PlacedSpan } from './calls.ts';
import type { ReceivedExport, Rejection } from './decode/spans.ts';
import type { Attributes, Span } from './span.ts';

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

/** What decides which spans are taken. */
export interface Selection {
  readonly grants: readonly Grant[];
  /** The `project_id` header; undefined if there is none. */
  readonly header: string | undefined;
  readonly names: WireNames;
}

/** The spans of a request that are taken, and those that are not. */
export interface SelectedSpans {
  readonly spans: readonly PlacedSpan[];
  readonly rejected: readonly Rejection[];
}

/** Why spans of a resource are not taken. */
interface Refusal {
  readonly status: 400 | 403;
  readonly reason: string;
}

const refusalOf = (found: FoundProject, { grants }: Selection): Refusal | undefined => {
  if ('problem' in found) return { status: 400, reason: found.problem };
  if (allows(grants, found.projectId, 'write')) return undefined;
  return { status: 403, reason: `this key may not write the project ${found.projectId}` };
};

const timeProblem = ({ startTimeUnixNano, endTimeUnixNano }: Span): string | undefined => {
  const times = { start_time_unix_nano: startTimeUnixNano, end_time_unix_nano: endTimeUnixNano };
  const [name] = Object.entries(times).find(([, nanos]) => !Number.isSafeInteger(microsOf(nanos))) ?? [];
  return name && `${name} ${timeRule.slice(timeRule.indexOf('should'))}`;
};

/** Counts spans by the reason for which they are not taken. */
class Refused {
  readonly #spans = new Map<string, { spans: number; status: 400 | 403 | undefined }>();

  add(reason: string, status?: 400 | 403): void {
    const known = this.#spans.get(reason);
    if (known) known.spans += 1;
    else this.#spans.set(reason, { spans: 1, status });
  }

  get rejections(): Rejection[] {
    return [...this.#spans].map(([reason, { spans }]) => ({ spans, reason }));
  }

  /** The error of a request of which nothing is taken because of its projects. */
  get error(): ServiceError | undefined {
    const all = [...this.#spans].filter(([, { status }]) => status !== undefined);
    const [reason, worst] = all.find(([, { status }]) => status === 403) ?? all[0] ?? [];
    if (reason === undefined || worst?.status === undefined) return undefined;
    const type = worst.status === 403 ? 'forbidden' : 'value_error';
    return new ServiceError(worst.status, [{ loc: ['body', 'resource_spans'], msg: reason, type }]);
  }
}

/**
 * Finds the project of each span, and leaves out the spans that the key may not write or that
 * cannot be kept.
 *
 * @throws ServiceError 400 or 403 if all are left out because of their projects
 */
export const selectSpans = (received: ReceivedExport, selection: Selection): SelectedSpans => {
  const found = new Map<Attributes, FoundProject>();
  const refused = new Refused();
  const spans: PlacedSpan[] = [];
  for (const one of received.spans) {
    const { resource } = one.span;
    const project = found.get(resource) ?? projectOf(resource, selection.header, selection.names);
    found.set(resource, project);
    const refusal = refusalOf(project, selection);
    const problem = refusal?.reason ?? timeProblem(one.span);
    if (problem !== undefined) refused.add(problem, refusal?.status);
    else if ('projectId' in project) spans.push({ ...one, projectId: project.projectId });
  }
  if (spans.length === 0 && refused.error) throw refused.error;
  return { spans, rejected: [...received.rejected, ...refused.rejections] };
};

/** The projects of spans, each once. */
export const projectsOf = (spans: readonly PlacedSpan[]): ProjectId[] => [
  ...new Set(spans.map(({ projectId }) => projectId)),
];
