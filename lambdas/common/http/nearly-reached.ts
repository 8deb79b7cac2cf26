import { createHash } from 'node:crypto';
import type { LookAtLimits } from '../../../core/doors/inference/index.ts';
import { notifyNearlyReached, type Spent } from '../../../core/records/spending.ts';
import { putEvent } from '../../../foundations/aws/index.ts';
import { requestBudget } from '../../../foundations/storage/index.ts';
import { formatTime } from '../../../foundations/wire/index.ts';
import { logFailure } from '../log/request-log.ts';
import { unpriced } from './limits.ts';
import { stores } from './stores.ts';

const { EVENT_BUS } = process.env;

/** The longest that looking and telling may take, in milliseconds: a request waits for it. */
const nearlyMs = 3000;

/** The event of a limit. Its id is the same for the same limit and period. */
const toEvent = ({ limit: { of, name, projectId, period, usd }, spent, resetsAt }: Spent) => ({
  kind: 'LimitNearlyReached',
  detail: {
    event_id: createHash('sha256')
      .update(JSON.stringify(['LimitNearlyReached', of, projectId, name, period, usd, resetsAt]))
      .digest('hex')
      .slice(0, 32),
    of,
    key_id: of === 'key' ? name : null,
    project_id: of === 'project' ? name : (projectId ?? null),
    end_user: of === 'user' ? name : null,
    period,
    limit_usd: usd,
    spent_usd: spent / 1e9,
    resets_at: formatTime(resetsAt * 1000),
  },
  time: Date.now(),
});

const notified = new Set<string>();

/** Puts an event on the bus when a limit is nearly reached; undefined if there is no bus for events. */
export const nearly: LookAtLimits | undefined =
  EVENT_BUS && unpriced !== undefined
    ? async (spent, budget) => {
        const { deadline } = requestBudget(nearlyMs);
        const bounded = { deadline: Math.min(deadline, budget.deadline), meter: budget.meter };
        const notify = (each: Spent) => putEvent(EVENT_BUS, toEvent(each), bounded);
        try {
          await notifyNearlyReached(stores.bookkeeping, spent, notify, notified, bounded);
        } catch (error) {
          logFailure('limits', error);
        }
      }
    : undefined;
