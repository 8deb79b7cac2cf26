import { type Limits, limitsObject } from '../../api/limits.ts';
import { limitsClass } from '../../api/shared/classes.ts';
import type { RequestBudget, Store } from '../../foundations/storage/index.ts';
import type { ProjectId } from '../../foundations/wire/index.ts';
import { type ParseObject, readNewest } from './objects/index.ts';
import { type SpendingLimit, toLimits } from './spending.ts';

/** What a project may spend, in dollars. What is absent is not limited. */
export type ProjectLimits = Partial<Pick<Limits, 'usdPerDay' | 'usdPerMonth' | 'usdPerDayPerUser'>>;

/**
 * The limits that a request in a project keeps to.
 *
 * @param endUser whom the request is for; undefined if it does not say
 */
export const limitsOfProject = (
  projectId: ProjectId,
  { usdPerDay, usdPerMonth, usdPerDayPerUser }: ProjectLimits,
  endUser: string | undefined,
): SpendingLimit[] => {
  const ofProject = toLimits('project', projectId, {
    usdPerDay: usdPerDay ?? undefined,
    usdPerMonth: usdPerMonth ?? undefined,
  });
  if (endUser === undefined || !usdPerDayPerUser) return ofProject;
  return [...ofProject, { of: 'user', name: endUser, projectId, period: 'day', usd: usdPerDayPerUser }];
};

/** Reads the value of limits; undefined if it is none. */
export type ParseLimits = ParseObject<Limits>;

/**
 * The limits of a project: those of the newest version of its object `limits` that is of class
 * `Limits`.
 *
 * @returns none if there is no such version
 */
export const readProjectLimits = async (
  objects: Store,
  projectId: ProjectId,
  parse: ParseLimits,
  budget: RequestBudget,
): Promise<ProjectLimits> =>
  (await readNewest(objects, { projectId, objectId: limitsObject }, limitsClass, parse, budget)) ?? {};
