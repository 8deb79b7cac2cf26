import { countUpTo, type RequestBudget, type Table } from '../../../foundations/storage/index.ts';
import { ServiceError } from '../../../foundations/wire/index.ts';

/** The request limit of a key. */
export interface RateLimit {
  readonly table: Table;
  /** The most requests of one key per clock minute. */
  readonly perMinute: number;
}

const minuteMs = 60_000;
/** How long a counter is kept, in seconds. It is of no use after its minute. */
const retentionSeconds = 600;

/** 429: the key has used up its requests of this minute. */
const exhausted = (perMinute: number, now: number): ServiceError =>
  new ServiceError(
    429,
    [
      {
        loc: ['header', 'authorization'],
        msg: `this key may make ${perMinute} inference requests a minute`,
        type: 'throttled',
      },
    ],
    { retryAfterSeconds: Math.ceil((minuteMs - (now % minuteMs)) / 1000) },
  );

/**
 * Counts a request of a key if the limit of this minute allows it.
 *
 * @throws ServiceError 429 with the seconds until the next minute
 */
export const countRequest = async (
  { table, perMinute }: RateLimit,
  keyId: string,
  budget: RequestBudget,
): Promise<void> => {
  const now = Date.now();
  const minute = Math.floor(now / minuteMs);
  const counted = await countUpTo(
    table,
    {
      key: { id: `${keyId}#${minute}` },
      attribute: 'n',
      limit: perMinute,
      expiry: { x: Math.floor(now / 1000) + retentionSeconds },
    },
    budget,
  );
  if (!counted) throw exhausted(perMinute, now);
};
