import { describe, expect, it } from 'vitest';
import type { Measure } from '../../../../api/alerts.ts';
import { metricTitle } from '../../../../api/shared/alert-metrics.ts';
import { aggregations, callMetrics, costMetrics, tokenMetrics } from '../../../../api/stats.ts';
import { measureText } from '../../../../core/workers/alerts/measure.ts';

const measure = (fields: Partial<Measure>): Measure => ({
  metric: null,
  feedbackType: null,
  path: 'value',
  aggregation: null,
  percentile: null,
  ...fields,
});

describe('what an alert measures, in words', () => {
  it.each([
    [measure({ metric: 'error_count', aggregation: 'avg' }), 'Error rate'],
    [measure({ metric: 'latency_ms', percentile: 95 }), 'p95 latency in ms'],
    [measure({ metric: 'latency_ms', aggregation: 'max' }), 'Highest latency in ms'],
    [measure({ metric: 'total_cost', aggregation: 'sum' }), 'Cost in dollars'],
    [measure({ metric: 'input_tokens', aggregation: 'avg' }), 'Mean input tokens'],
    [measure({ feedbackType: 'score', aggregation: 'avg' }), 'Mean of value in feedback score'],
    [measure({ feedbackType: 'score', aggregation: 'count' }), 'Count of value in feedback score'],
    [measure({ feedbackType: 'score', percentile: 90 }), 'p90 of value in feedback score'],
  ])('of %j are those of the page, with a unit: %s', (measured, text) => {
    expect(measureText(measured)).toBe(text);
  });

  it('show no name of a field, whatever is measured', () => {
    for (const metric of [...callMetrics, ...tokenMetrics, ...costMetrics])
      for (const made of [...aggregations, 'p99.9'])
        expect(metricTitle(`${metric}.${made}`)).not.toMatch(/_/);
  });
});
