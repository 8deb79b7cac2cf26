import { type Column, type Dataset, datasets } from '../core/workers/analytics/columns.ts';

/*
 * The view of the latest state of each call and each record, and queries over it. They are in the
 * SQL that Athena and DuckDB have in common, and tests run them over real files.
 */

/** The table of all states of a dataset. */
export const statesTable = (dataset: Dataset): string => `${dataset}_states`;

/** The columns of a view: the partitions, and what a state has but what makes it one of several. */
export const viewColumns = (dataset: Dataset): readonly Column[] => [
  { name: 'project', kind: 'text', about: 'The project. Queries have to name it.' },
  { name: 'day', kind: 'text', about: 'The UTC day of its start or its creation: 2026-11-22.' },
  ...datasets[dataset].filter(
    ({ name }) => !['project_id', 'version', 'written_at', 'deleted'].includes(name),
  ),
];

/** The view of a dataset: the last state of each id, without those that were deleted. */
export const viewQuery = (dataset: Dataset): string => `SELECT ${viewColumns(dataset)
  .map(({ name }) => name)
  .join(', ')}
FROM (
  SELECT *, row_number() OVER (PARTITION BY project, day, id ORDER BY version DESC, written_at DESC) AS place
  FROM ${statesTable(dataset)}
) AS states
WHERE place = 1 AND NOT deleted`;

/** What every query begins with: the project and the first day to look at. */
const where = "WHERE project = 'acme/shop' AND day >= '2026-11-01'";

/** The saved queries by their names. Write your own project and days in them. */
export const analyticsQueries: Readonly<Record<string, { about: string; sql: string }>> = {
  'Cost by model and day': {
    about: 'What each model cost, day by day.',
    sql: `SELECT day, model, sum(costs[model]) AS cost, sum(usage[model].total_tokens) AS tokens, sum(usage[model].requests) AS requests
FROM calls CROSS JOIN UNNEST(map_keys(costs)) AS models (model)
${where}
GROUP BY day, model
ORDER BY day, cost DESC`,
  },
  'Slowest operations': {
    about: 'Operations by their latency.',
    sql: `SELECT op_name, count(*) AS calls, avg(latency_ms) AS mean_ms, approx_percentile(latency_ms, 0.95) AS p95_ms, max(latency_ms) AS max_ms
FROM calls
${where} AND latency_ms IS NOT NULL
GROUP BY op_name
ORDER BY p95_ms DESC
LIMIT 50`,
  },
  'Error rates': {
    about: 'The share of calls that failed, by operation and day.',
    sql: `SELECT day, op_name, count(*) AS calls, sum(CASE WHEN status = 'error' THEN 1 ELSE 0 END) AS errors, avg(CASE WHEN status = 'error' THEN 1.0 ELSE 0.0 END) AS error_rate
FROM calls
${where} AND status <> 'running'
GROUP BY day, op_name
ORDER BY error_rate DESC, calls DESC`,
  },
  'Tokens by user': {
    about: 'Tokens of each user and model.',
    sql: `SELECT user_id, model, sum(usage[model].prompt_tokens) AS prompt_tokens, sum(usage[model].completion_tokens) AS completion_tokens, sum(usage[model].requests) AS requests
FROM calls CROSS JOIN UNNEST(map_keys(usage)) AS models (model)
${where}
GROUP BY user_id, model
ORDER BY prompt_tokens DESC`,
  },
  'Feedback scores': {
    about: 'Scores of feedback, by type and operation.',
    sql: `SELECT feedback.feedback_type, calls.op_name, count(*) AS scored, avg(feedback.score) AS mean_score, min(feedback.score) AS lowest
FROM feedback LEFT JOIN calls ON calls.id = feedback.call_id AND calls.project = 'acme/shop'
${where.replaceAll('project', 'feedback.project').replaceAll('day', 'feedback.day')} AND feedback.score IS NOT NULL
GROUP BY feedback.feedback_type, calls.op_name
ORDER BY mean_score`,
  },
};
