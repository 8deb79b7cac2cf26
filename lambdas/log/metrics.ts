import type { LineFields } from './fields.ts';

/** The fields that are metrics where a route has them, and their units. */
const metrics = {
  ms: 'Milliseconds',
  failed: 'Count',
  throttled: 'Count',
  rows: 'Count',
  readUnits: 'Count',
  writeUnits: 'Count',
} as const satisfies Partial<Record<keyof LineFields, string>>;

/** What makes CloudWatch take metrics from a log line. */
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
 * What a log line has beside its fields for CloudWatch to take some of them as metrics of the
 * line's route, in the embedded metric format
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
