import { type Limits, limitsObject } from '../../api/limits.ts';
import { everyVersion } from '../../api/objects.ts';
import { limitsClass } from '../../api/shared/classes.ts';
import { mapBatches } from '../../foundations/listing/index.ts';
import type { RequestBudget, Store } from '../../foundations/storage/index.ts';
import { type JsonValue, type ProjectId, parseJson } from '../../foundations/wire/index.ts';
import { findAll, getOwnClass, readValues } from './objects/index.ts';
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
export type ParseLimits = (value: JsonValue) => Limits | undefined;

/** Versions are looked at so many at once: the newest one is nearly always of the class. */
const atOnce = 10;

/**
 * The limits of a project: those of the newest version of its object `limits` that is of class
 * `Limits`. Whoever may not make one cannot put something else in its place.
 *
 * @returns none if there is no such version
 */
export const readProjectLimits = async (
  objects: Store,
  projectId: ProjectId,
  parse: ParseLimits,
  budget: RequestBudget,
): Promise<ProjectLimits> => {
  const filter = { ...everyVersion, objectIds: [limitsObject] };
  const versions = findAll(objects, { projectId, filter }, 'descending', atOnce, budget);
  const suspects = mapBatches(versions, (batch) =>
    // Values in the bucket are longer than any limits.
    batch.flatMap(({ header }) =>
      header.baseObjectClass === limitsClass && header.home === 'item' ? [{ header }] : [],
    ),
  );
  for await (const batch of suspects) {
    for (const suspect of batch) {
      const [text] = await readValues(objects, [suspect], budget);
      const value = text === undefined ? null : (parseJson(text) as JsonValue);
      const limits = getOwnClass(value) === limitsClass ? parse(value) : undefined;
      if (limits) return limits;
    }
  }
  return {};
};
