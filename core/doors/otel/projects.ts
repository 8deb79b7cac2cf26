import { allows, describeRefusal, type Grant, type Role } from '../../../foundations/auth/index.ts';
import {
  nonEmptyString,
  type ProjectId,
  parseProjectId,
  projectIdRule,
  ServiceError,
  timeRule,
} from '../../../foundations/wire/index.ts';
import { toMicros } from './calls.ts';
import type { ReceivedExport, ReceivedLogs, Rejection } from './decode/spans.ts';
import type { Attributes, LogRecord } from './span.ts';

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

/** The attributes of a resource that name its project; Weave's SDKs may use the second. */
const projectAttributes = ['svc.project_id', 'weave.project_id'] as const;

/** The environment that sets the project of an exporter, for messages. */
const setProject = `OTEL_RESOURCE_ATTRIBUTES="${projectAttributes[0]}=<entity>/<project>"`;

/**
 * The project of a resource: its own attribute, else Weave's `wandb.entity` and `wandb.project`,
 * else the request's header.
 *
 * @param header the `project_id` header; undefined if there is none
 */
export const findProject = (resource: Attributes, header: string | undefined): FoundProject => {
  for (const name of projectAttributes) {
    const own = nonEmptyString(resource.get(name));
    if (own !== undefined) return parsed(`the resource's ${name}`, own);
  }
  const entity = nonEmptyString(resource.get('wandb.entity'));
  const project = nonEmptyString(resource.get('wandb.project'));
  if (entity !== undefined && project !== undefined)
    return parsed("the resource's wandb.entity and wandb.project", `${entity}/${project}`);
  if (header !== undefined) return parsed(`the header ${projectHeader}`, header);
  return {
    problem: `no project: set ${setProject}, or the header ${projectHeader}, in the environment of the exporter`,
  };
};

/** What decides which spans are taken. */
export interface Selection {
  readonly grants: readonly Grant[];
  /** What the key has to be granted on a project. */
  readonly role: Role;
  /** The `project_id` header; undefined if there is none. */
  readonly header: string | undefined;
}

/** The project that a request's header names, if the key may write it. */
export const projectOfHeader = ({
  grants,
  header,
}: Pick<Selection, 'grants' | 'header'>): ProjectId | undefined => {
  const projectId = header === undefined ? undefined : parseProjectId(header);
  return projectId && allows(grants, projectId, 'write') ? projectId : undefined;
};

/** Why a span is not taken. Only a refusal because of its project has a status. */
interface Refusal {
  readonly status?: 400 | 403;
  readonly reason: string;
}

const refusalOfProject = (found: FoundProject, { grants, role }: Selection): Refusal | undefined => {
  if ('problem' in found) return { status: 400, reason: found.problem };
  if (allows(grants, found.projectId, role)) return undefined;
  return { status: 403, reason: describeRefusal(role, found.projectId) };
};

/** The error of a request of which nothing is taken because of its projects. */
const toError = (refusals: readonly Refusal[]): ServiceError | undefined => {
  const { status, reason } =
    refusals.find((refusal) => refusal.status === 403) ?? refusals.find((refusal) => refusal.status) ?? {};
  if (status === undefined || reason === undefined) return undefined;
  const type = status === 403 ? 'forbidden' : 'value_error';
  return new ServiceError(status, [{ loc: ['body'], msg: reason, type }]);
};

/**
 * Refuses an export if the key may report to the project of none of its resources.
 *
 * @throws ServiceError 400 or 403
 */
export const requireProject = (resources: readonly Attributes[], selection: Selection): void => {
  const refusals = resources.map((resource) =>
    refusalOfProject(findProject(resource, selection.header), selection),
  );
  const error = toError(refusals.filter((refusal) => refusal !== undefined));
  if (error && refusals.every((refusal) => refusal !== undefined)) throw error;
};

/** The first of these times that cannot be kept, by its name, and what it should be. */
const badTime = (nanos: Readonly<Record<string, bigint>>): Refusal | undefined => {
  const [name] = Object.entries(nanos).find(([, time]) => !Number.isSafeInteger(toMicros(time))) ?? [];
  return name === undefined ? undefined : { reason: `${name} ${timeRule.slice(timeRule.indexOf('should'))}` };
};

/**
 * Finds the project of each span or record, and leaves out what the key may not report or what cannot
 * be kept.
 *
 * @param getTimes its times in nanoseconds, by their names
 * @throws ServiceError 400 or 403 if all are left out because of their projects
 */
const select = <T extends object>(
  list: readonly T[],
  getResource: (one: T) => Attributes,
  getTimes: (one: T) => Readonly<Record<string, bigint>>,
  selection: Selection,
): { taken: (T & { readonly projectId: ProjectId })[]; refused: Rejection[] } => {
  const found = new Map<Attributes, FoundProject>();
  const refusals = new Map<string, Refusal & { count: number }>();
  const taken: (T & { readonly projectId: ProjectId })[] = [];
  for (const one of list) {
    const resource = getResource(one);
    const project = found.get(resource) ?? findProject(resource, selection.header);
    found.set(resource, project);
    const refusal = refusalOfProject(project, selection) ?? badTime(getTimes(one));
    if (refusal) {
      const same = refusals.get(refusal.reason) ?? { ...refusal, count: 0 };
      same.count += 1;
      refusals.set(refusal.reason, same);
    } else if ('projectId' in project) taken.push({ ...one, projectId: project.projectId });
  }
  const error = taken.length === 0 ? toError([...refusals.values()]) : undefined;
  if (error) throw error;
  return { taken, refused: Array.from(refusals.values(), ({ reason, count }) => ({ count, reason })) };
};

/**
 * The spans that are taken, with their projects, and those that are not.
 *
 * @throws ServiceError 400 or 403 if all are left out because of their projects
 */
export const selectSpans = (received: ReceivedExport, selection: Selection) => {
  const { taken, refused } = select(
    received.spans,
    ({ span }) => span.resource,
    ({ span }) => ({
      start_time_unix_nano: span.startTimeUnixNano,
      end_time_unix_nano: span.endTimeUnixNano,
    }),
    selection,
  );
  return { spans: taken, rejected: [...received.rejected, ...refused] };
};

/** A log record with the project that it goes to. */
export interface ProjectRecord extends LogRecord {
  readonly projectId: ProjectId;
}

/**
 * The log records that are taken, with their projects, and those that are not.
 *
 * @throws ServiceError 400 or 403 if all are left out because of their projects
 */
export const selectRecords = (received: ReceivedLogs, selection: Selection) => {
  const { taken, refused } = select(
    received.records,
    ({ resource }) => resource,
    ({ timeUnixNano }) => ({ time_unix_nano: timeUnixNano }),
    selection,
  );
  return { records: taken, rejected: [...received.rejected, ...refused] };
};

/** The projects of spans or log records, each once. */
export const uniqueProjects = (list: readonly { readonly projectId: ProjectId }[]): ProjectId[] => [
  ...new Set(list.map(({ projectId }) => projectId)),
];
