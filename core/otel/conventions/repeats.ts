import type { Span } from '../span.ts';
import type { Kind, Translation, Usage } from './convention.ts';

interface Entry {
  readonly span: Span;
  readonly translation: Translation;
}

const tokens = (usage: Readonly<Record<string, Usage>>): number =>
  Object.values(usage).reduce(
    (sum, { input_tokens = 0, output_tokens = 0 }) => sum + input_tokens + output_tokens,
    0,
  );

/** Below an agent or a tool, other requests begin. */
const boundaries: ReadonlySet<Kind> = new Set(['agent', 'tool', 'retriever']);

const keyOf = (traceId: string, spanId: string): string => `${traceId}:${spanId}`;

/**
 * Takes the usage off spans that only repeat what requests below them used. Two instrumentations
 * of one program, of a framework and of the provider's SDK, report each request twice.
 *
 * @param entries the spans of one export, with their translations, in any order
 * @returns the translations in the order of the spans
 */
export const withoutRepeats = (entries: readonly Entry[]): readonly Translation[] => {
  const byId = new Map(entries.map((entry) => [keyOf(entry.span.traceId, entry.span.spanId), entry]));
  const below = new Map<Entry, number>();
  for (const { span, translation } of entries) {
    if (!translation.usage) continue;
    const outer = nearestRequest(span, byId);
    if (outer) below.set(outer, (below.get(outer) ?? 0) + tokens(translation.usage));
  }
  return entries.map((entry) => {
    const { usage, ...rest } = entry.translation;
    const repeated = below.get(entry);
    return usage && repeated !== undefined && repeated >= tokens(usage)
      ? { ...rest, usage: undefined }
      : entry.translation;
  });
};

/** The nearest span around this one that counts tokens, if nothing but steps lie between. */
const nearestRequest = (span: Span, byId: ReadonlyMap<string, Entry>): Entry | undefined => {
  const seen = new Set<string>();
  for (let id = span.parentSpanId; id !== undefined && !seen.has(id); ) {
    seen.add(id);
    const entry = byId.get(keyOf(span.traceId, id));
    if (!entry || boundaries.has(entry.translation.kind)) return undefined;
    if (entry.translation.usage) return entry;
    id = entry.span.parentSpanId;
  }
  return undefined;
};
