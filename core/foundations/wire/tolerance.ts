import type * as z from 'zod/mini';
import { type BodySchema, errorOf } from './parse-body.ts';

type Issue = z.core.$ZodIssue;
type UnknownFields = Extract<Issue, { readonly code: 'unrecognized_keys' }>;

const areUnknownFields = (issue: Issue): issue is UnknownFields => issue.code === 'unrecognized_keys';

/** The object at a path of the body, in which a schema has found unknown fields. */
const objectAt = (body: unknown, path: readonly PropertyKey[]): Record<string, unknown> =>
  path.reduce<unknown>((value, key) => (value as Record<PropertyKey, unknown>)[key], body) as Record<
    string,
    unknown
  >;

/** A field's place; a `*` stands for any item of a list. */
const placeOf = (path: readonly PropertyKey[]): string =>
  path.map((step) => (typeof step === 'number' ? '*' : String(step))).join('.');

/** What a body says, and which of its fields were passed over. */
export interface Tolerated<T> {
  readonly value: T;
  /** The places of unknown fields, each once: `batch.*.started_by`. */
  readonly passedOver: readonly string[];
}

/**
 * As `parseValue`, but unknown fields are passed over. They are deleted from the body.
 *
 * @throws ServiceError 422 that names each wrong place
 */
export const parseTolerantly = <T>(schema: BodySchema<T>, body: unknown): Tolerated<T> => {
  const passedOver = new Set<string>();
  for (;;) {
    const result = schema.safeParse(body);
    if (result.success) return { value: result.data, passedOver: [...passedOver] };
    const { issues } = result.error;
    const unknown = issues.filter(areUnknownFields);
    if (unknown.length === 0) throw errorOf(issues, body);
    for (const { path, keys } of unknown) {
      const object = objectAt(body, path);
      for (const key of keys) {
        passedOver.add(placeOf([...path, key]));
        delete object[key];
      }
    }
  }
};
