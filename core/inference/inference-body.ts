import type { JsonObject } from '../wire/index.ts';

/** A checked inference request: what steers it, and whatever else the upstream is to get. */
export interface InferenceBody extends Readonly<Record<string, unknown>> {
  readonly model: string;
  /**
   * Seconds that the upstream may take, above 0; null or absent for as long as the function has.
   */
  readonly timeout?: number | null | undefined;
  /** Headers that the upstream gets beside its own. */
  readonly extra_headers?: JsonObject | undefined;
  /** The `api-version` query parameter. */
  readonly api_version?: string | null | undefined;
}
