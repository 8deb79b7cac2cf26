import type * as z from 'zod/mini';
import type { ToolDescription } from '../../../api/tools.ts';
import { allows, type Caller, describeRefusal } from '../../../foundations/auth/index.ts';
import type { Links } from '../../../foundations/links.ts';
import type { RequestBudget, Store, Table } from '../../../foundations/storage/index.ts';
import { forbidden, type Micros, type ProjectId } from '../../../foundations/wire/index.ts';
import { parseValue } from '../../../foundations/wire/schema.ts';
import type { StatsLookups } from '../../questions/stats/index.ts';
import type { Mover } from '../../records/objects/index.ts';
import { fieldsAt } from './mend.ts';
import { isFields, type JsonFields, kept } from './reply.ts';

/** What tools work with. */
export interface ToolContext {
  readonly caller: Caller;
  readonly budget: RequestBudget;
  readonly stores: {
    readonly calls: Store;
    readonly feedback: Store;
    readonly objects: Store;
    readonly bookkeeping: Table;
  };
  readonly lookups: StatsLookups;
  readonly links: Links;
  /** The schema of a tool's arguments. */
  readonly getSchema: <Args>(tool: Pick<ToolDescription<Args>, 'name' | 'request'>) => z.ZodMiniType<Args>;
  /** Notes the project that a call of a tool is about, for the log. */
  readonly names: (projectId: ProjectId) => void;
  readonly now: Micros;
  /** Does something that may move labels, in the name of the caller, and tells of the moves. */
  readonly movingLabels: <T>(work: (mover: Mover) => Promise<T>) => Promise<T>;
}

/** A tool: its description, and what it does. */
export interface Tool extends ToolDescription {
  /**
   * Answers a call of the tool, within the characters that its arguments allow.
   *
   * @throws ServiceError 422 if the arguments do not fit, 403 if the key may not
   */
  readonly run: (args: unknown, context: ToolContext) => Promise<JsonFields>;
}

/** Gives a described tool its work. */
export const runs = <Args extends { readonly maxCharacters: number }>(
  description: ToolDescription<Args>,
  work: (args: Args, context: ToolContext) => Promise<JsonFields>,
): Tool => ({
  ...description,
  run: async (args, context) => {
    const schema = context.getSchema(description);
    const parsed = parseValue(schema, withEndUsers(args, fieldsAt(schema, [])));
    // All tools but one are about a project.
    if ('projectId' in parsed) checkProject(context, parsed.projectId as ProjectId, description.role);
    return kept(parsed.maxCharacters, await work(parsed, context));
  },
});

/**
 * Arguments whose filter names end users, which filters of calls do not: a query does.
 *
 * @param known the arguments that the tool takes
 */
const withEndUsers = (args: unknown, known: readonly string[]): unknown => {
  if (!isFields(args) || !isFields(args.filter) || !known.includes('query')) return args;
  const { end_user: one, end_users: users = one, ...filter } = args.filter;
  if (users === undefined) return args;
  const named = [users].flat().map(($literal) => ({ $literal }));
  const isOne = { $in: [{ $getField: 'attributes.user.id' }, named] };
  const { query = null } = args;
  if (query === null) return { ...args, filter, query: { $expr: isOne } };
  // What is no expression is refused as it is.
  if (!isFields(query) || !isFields(query.$expr)) return args;
  return { ...args, filter, query: { ...query, $expr: { $and: [query.$expr, isOne] } } };
};

/**
 * Refuses arguments that name a project which the key may not read, or write.
 *
 * @throws ServiceError 403
 */
export const checkProject = (
  { caller, names }: ToolContext,
  projectId: ProjectId,
  role: 'read' | 'write',
): void => {
  names(projectId);
  if (allows(caller.grants, projectId, role)) return;
  throw forbidden(['body', 'project_id'], describeRefusal(role, projectId));
};
