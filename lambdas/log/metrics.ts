import type { LineFields } from './fields.ts';

/** The fields that become metrics of a route that has them, and their units. */
const metrics = {
  ms: 'Milliseconds',
  failed: 'Count',
  throttled: 'Count',
  rows: 'Count',
  readUnits: 'Count',
  writeUnits: 'Count',
} as const satisfies Partial<Record<keyof LineFields, string>>;

/** The part of a log line that makes CloudWatch take metrics from it. */
export interface MetricsNote {
  readonly _aws: {
    /** Milliseconds since 1970. */
    readonly Timestamp: number;
    readonly CloudWatchMetrics: readonly {
      readonly Namespace: string;
      readonly Dimensions: readonly (readonly string[])[];
      readonly Metrics: readonly { readonly Name: string; readonly Unit: string }[];
    }[];
  };
}

/**
 * Has CloudWatch take some fields of a log line as metrics of its route, in the embedded metric
 * format
 * (https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html).
 * Each is a custom metric, and paid for as such.
 *
 * @param timestamp milliseconds since 1970
 */
export const metricsNote = (namespace: string, timestamp: number): MetricsNote => ({
  _aws: {
    Timestamp: timestamp,
    CloudWatchMetrics: [
      {
        Namespace: namespace,
        Dimensions: [['route']],
        Metrics: Object.entries(metrics).map(([Name, Unit]) => ({ Name, Unit })),
      },
    ],
  },
});
