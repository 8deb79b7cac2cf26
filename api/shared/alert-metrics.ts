/*
 * What alerts measure, in words: those of the page are those of messages. Nothing is imported here, since
 * browsers load this as it is.
 */

/** Those that have a name of their own, by metric and aggregation. */
const named: Readonly<Record<string, string>> = {
  'error_count.avg': 'Error rate',
  'error_count.sum': 'Failed calls',
  'call_count.sum': 'Calls',
  'total_cost.sum': 'Cost',
  'total_tokens.sum': 'Tokens',
  'new_issues.sum': 'New issues',
};

const aggregations: Readonly<Record<string, string>> = {
  avg: 'Mean',
  sum: 'Sum of',
  min: 'Lowest',
  max: 'Highest',
  count: 'Count of',
};

const metrics: Readonly<Record<string, string>> = {
  call_count: 'calls',
  error_count: 'failed calls',
  latency_ms: 'latency',
  new_issues: 'new issues',
};

/** What is measured of calls: `p95 latency` for `latency_ms.p95`, `Error rate` for `error_count.avg`. */
export const metricTitle = (name: string): string => {
  const known = Object.hasOwn(named, name) ? named[name] : undefined;
  if (known !== undefined) return known;
  const [metric = '', made = ''] = name.split('.');
  return `${aggregations[made] ?? made} ${metrics[metric] ?? metric.replaceAll('_', ' ')}`.trim();
};

/** What is measured of feedback: `Mean of value in feedback score`. */
export const feedbackTitle = (aggregation: string, path: string | null, type: string): string =>
  `${(aggregations[aggregation] ?? aggregation).replace(/ of$/, '')} of ${path ?? 'value'} in feedback ${type}`;

/** The unit that numbers have where they stand without one: `ms`; undefined for plain counts and shares. */
export const metricUnit = (metric: string): string | undefined => {
  if (metric.startsWith('latency_ms')) return 'ms';
  return /_cost\b/.test(metric) ? 'dollars' : undefined;
};
