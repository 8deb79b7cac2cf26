import * as z from 'zod/mini';
import { maxRetentionDays } from '../foundations/storage/retention.ts';
import {
  documented,
  field,
  id,
  integerWith,
  listSchema,
  nullish,
  record,
  rule,
  time,
} from '../foundations/wire/schema.ts';
import { alias } from './objects.ts';
import { promptLabelsClass, publicLinkClass, retentionClass, sharingClass } from './shared/classes.ts';
import { maxLinkDays } from './shared/sharing.ts';

/*
 * What a project says of itself, as objects of a class. They stand apart from the endpoints that act on them, since
 * everything that stores objects checks them.
 */

/** The object of a project that has its retention. */
export const retentionObject = 'retention';

const days = nullish(integerWith(z.minimum(1), z.maximum(maxRetentionDays)));

/** The value of an object of class `Retention`. */
export const retention = () =>
  record(
    {
      _type: field(z.literal(retentionClass), 'Its class.'),
      calls_days: field(days, 'Calls are deleted this many days after they were stored; kept without it.'),
      feedback_days: field(days, 'The same, of feedback.'),
      saved_at: field(nullish(time), 'When it was saved.'),
    },
    { _type: 'type' },
  ).register(documented, { name: 'Retention' });

/** The retention of a project, checked. */
export type Retention = z.output<ReturnType<typeof retention>>;

/** The value of an object of class `Sharing`. */
export const sharing = () =>
  record(
    {
      _type: field(z.literal(sharingClass), 'Its class.'),
      public_links: field(z.boolean(), 'Whether public links to traces of the project work.'),
      saved_at: field(nullish(time), 'When it was saved.'),
    },
    { _type: 'type' },
  ).register(documented, { name: 'Sharing' });

const digestRule = 'should be the SHA-256 of a secret of 32 bytes, in base64url: 43 characters';

/** The value of an object of class `PublicLink`. */
export const publicLink = () =>
  record(
    {
      _type: field(z.literal(publicLinkClass), 'Its class.'),
      trace_id: field(id, 'The trace that it shows.'),
      expires_at: field(time, `When it ends: within ${maxLinkDays} days.`),
      digest: field(
        z
          .string()
          .check(z.refine((text) => /^[\w-]{43}$/.test(text), rule(digestRule)))
          .register(documented, { keywords: { pattern: '^[A-Za-z0-9_-]{43}$' } }),
        'The SHA-256 of its secret, in base64url.',
      ),
      revoked: field(nullish(z.boolean()), 'Whether it was revoked.'),
      saved_at: field(nullish(time), 'When it was saved.'),
    },
    { _type: 'type' },
  ).register(documented, { name: 'PublicLink' });

/** A public link to a trace, checked. */
export type PublicLink = z.output<ReturnType<typeof publicLink>>;

/** The most labels that are protected. */
const maxProtected = 32;

/** The object of a project that says which labels are protected. */
export const promptLabelsObject = 'prompt-labels';

/** The value of an object of class `PromptLabels`. */
export const promptLabels = () =>
  record(
    {
      _type: field(z.literal(promptLabelsClass), 'Its class.'),
      protected: field(
        listSchema(alias, maxProtected),
        'The labels that take the role `admin`, of prompts and of all other objects.',
      ),
      saved_at: field(nullish(time), 'When it was saved.'),
    },
    { _type: 'type' },
  ).register(documented, { name: 'PromptLabels' });
