import type { JsonObject } from '../../foundations/wire/index.ts';

/**
 * A validated inference request: the service's own fields, and everything else for the upstream.
 */
export interface InferenceBody extends Readonly<Record<string, unknown>> {
  readonly model: string;
  /**
   * Seconds that the upstream may take, above 0. Null or absent: as long as the function may run.
   */
  readonly timeout?: number | null | undefined;
  /** Headers for the upstream beside the service's own. */
  readonly extra_headers?: JsonObject | undefined;
  /** The `api-version` query parameter. */
  readonly api_version?: string | null | undefined;
}
