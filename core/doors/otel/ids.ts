import type { Micros } from '../../foundations/wire/index.ts';

/**
 * The id of a span's call: the last 16 hex digits of its trace id, then its own 16. Whoever has a
 * span can name its call, and spans of two traces that share an id by chance stay apart.
 */
export const callIdOf = (traceId: string, spanId: string): string => `${traceId.slice(16)}${spanId}`;

/**
 * Nanoseconds since 1970 as microseconds, cut off. OTLP's times reach the year 2554, so the result
 * can be beyond the safe integers that times of calls are.
 */
export const microsOf = (nanos: bigint): Micros => Number(nanos / 1000n);
