import { limits } from '../../../api/limits.ts';
import type { Unpriced } from '../../../core/doors/inference/index.ts';
import { type ParseLimits, readProjectLimits } from '../../../core/records/limits.ts';
import { limitsOf, type SpendingLimit } from '../../../core/records/spending.ts';
import type { Caller } from '../../../foundations/auth/index.ts';
import { Memory } from '../../../foundations/memory.ts';
import type { RequestBudget } from '../../../foundations/storage/index.ts';
import type { ProjectId } from '../../../foundations/wire/index.ts';
import { settings } from './settings.ts';

const { LIMITS } = process.env;

/** What becomes of models without a price; undefined without the setting `limits`. */
export const unpriced: Unpriced | undefined =
  LIMITS === 'refuse' || LIMITS === 'dearest' ? LIMITS : undefined;

const schema = limits();

const parseLimits: ParseLimits = (value) => {
  const result = schema.safeParse(value);
  return result.success ? result.data : undefined;
};

/** How long limits are remembered, in milliseconds: a change counts a little later. */
const rememberedMs = 5000;

const remembered = new Memory<readonly SpendingLimit[]>(rememberedMs);

/** The limits of a project, remembered for some seconds. */
export const projectLimits = (
  projectId: ProjectId,
  budget: RequestBudget,
): Promise<readonly SpendingLimit[]> =>
  remembered.get(projectId, () => readProjectLimits(settings.objects, projectId, parseLimits, budget));

/** The limits of a caller's key. */
export const keyLimits = ({ keyId, limits = {} }: Pick<Caller, 'keyId' | 'limits'>): SpendingLimit[] =>
  limitsOf('key', keyId, limits);
