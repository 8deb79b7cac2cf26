import { limits } from '../../../api/limits.ts';
import type { Unpriced } from '../../../core/doors/inference/index.ts';
import {
  limitsOfProject,
  type ParseLimits,
  type ProjectLimits,
  readProjectLimits,
} from '../../../core/records/limits.ts';
import { type SpendingLimit, toLimits } from '../../../core/records/spending.ts';
import type { Caller } from '../../../foundations/auth/index.ts';
import { Memory } from '../../../foundations/memory.ts';
import type { RequestBudget } from '../../../foundations/storage/index.ts';
import type { ProjectId } from '../../../foundations/wire/index.ts';
import { makeParser } from '../../../foundations/wire/schema.ts';
import { stores } from './stores.ts';

const { LIMITS } = process.env;

/** What becomes of models without a price; undefined without the setting `limits`. */
export const unpriced: Unpriced | undefined =
  LIMITS === 'refuse' || LIMITS === 'dearest' ? LIMITS : undefined;

const parseLimits: ParseLimits = makeParser(limits());

/** How long limits are remembered, in milliseconds: a change counts a little later. */
const rememberedMs = 5000;

const remembered = new Memory<ProjectLimits>(rememberedMs);

/**
 * The limits of a project, remembered for some seconds, and of an end user in it.
 *
 * @param endUser @default - only those of the project
 */
export const projectLimits = async (
  projectId: ProjectId,
  budget: RequestBudget,
  endUser?: string,
): Promise<readonly SpendingLimit[]> => {
  const read = () => readProjectLimits(stores.objects, projectId, parseLimits, budget);
  return limitsOfProject(projectId, await remembered.get(projectId, read), endUser);
};

/** The limits of a caller's key. */
export const keyLimits = ({ keyId, limits = {} }: Pick<Caller, 'keyId' | 'limits'>): SpendingLimit[] =>
  toLimits('key', keyId, limits);
