import type { JsonObject } from '../../foundations/wire/index.ts';
import type { Translation } from './conventions/index.ts';
import { nested } from './nested.ts';
import type { AttributeValue, Span } from './span.ts';

type Entry = readonly [key: string, value: AttributeValue];

/** Fields of a call's attributes that are not the span's own. */
const reserved = /^(?:kind|otel)(?:\.|$)/;

/** Where the end user is, whatever a convention calls it. */
const userKey = 'user.id';

/**
 * The attributes of a call: the span's own, nested, without what its inputs, output or summary
 * have; beside them `kind` and `otel`. The span's own attributes of those names are in
 * `otel.attributes`.
 *
 * @param details what `otel` holds otherwise
 */
export const callAttributes = (span: Span, translation: Translation, details: JsonObject): JsonObject => {
  const { kind, userId, usedKeys } = translation;
  const own: Entry[] = [];
  const displaced: Entry[] = [];
  for (const entry of span.attributes) {
    const [key] = entry;
    if (usedKeys.has(key) || (key === userKey && userId !== undefined)) continue;
    (reserved.test(key) ? displaced : own).push(entry);
  }
  if (userId !== undefined) own.push([userKey, userId]);
  const otel = displaced.length > 0 ? { ...details, attributes: nested(displaced) } : details;
  return Object.assign(nested(own), { kind, otel });
};
