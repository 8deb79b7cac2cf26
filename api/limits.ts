import * as z from 'zod/mini';
import { maxLimitUsd } from '../foundations/auth/grants.ts';
import { documented, field, nullish, numeric, record, time } from '../foundations/wire/schema.ts';
import { limitsClass } from './shared/classes.ts';

/** The object of a project that has its limits. */
export const limitsObject = 'limits';

const usd = nullish(numeric(z.number().check(z.positive(), z.maximum(maxLimitUsd))));

/** The value of an object of class `Limits`. */
export const limits = () =>
  record(
    {
      _type: field(z.literal(limitsClass), 'Its class.'),
      usd_per_day: field(usd, 'The most dollars that model requests of the project may cost in a UTC day.'),
      usd_per_month: field(usd, 'The same, of a UTC month.'),
      usd_per_day_per_user: field(
        usd,
        'The same, of a UTC day and each end user: requests say by `user` or `metadata.user_id` who that is.',
      ),
      saved_at: field(nullish(time), 'When it was saved.'),
    },
    { _type: 'type' },
  ).register(documented, { name: 'Limits' });

/** The limits of a project, checked. */
export type Limits = z.output<ReturnType<typeof limits>>;
