import { Aws } from 'aws-cdk-lib';
import { CfnDatabase, CfnTable } from 'aws-cdk-lib/aws-glue';
import type { Bucket, IBucket } from 'aws-cdk-lib/aws-s3';
import { Construct } from 'constructs';
import {
  type Column,
  type ColumnKind,
  type Dataset,
  datasets,
  moneyPrecision,
  moneyScale,
  usageFields,
} from '../core/workers/analytics/columns.ts';

/*
 * The view of the latest state of each call and each record, and queries over it. They are in the
 * SQL that Athena and DuckDB have in common, and tests run them over real files.
 */

export const statesTable = (dataset: Dataset): string => `${dataset}_states`;

/** The columns of a view: the partitions, and what a state has but what makes it one of several. */
const viewColumns = (dataset: Dataset): readonly Column[] => [
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

/** A bucket of the stack, or one that is there already. */
export type AnalyticsBucket = Bucket | IBucket;

interface AnalyticsCatalogProps {
  /** The name of the database, in lower case. */
  readonly name: string;
  readonly bucket: AnalyticsBucket;
}

const money = `decimal(${moneyPrecision},${moneyScale})`;

/** The types of columns as Glue writes them: Hive's. */
const glueTypes: Readonly<Record<ColumnKind, string>> = {
  text: 'string',
  timestamp: 'timestamp',
  integer: 'bigint',
  number: 'double',
  flag: 'boolean',
  money,
  moneyByModel: `map<string,${money}>`,
  usageByModel: `map<string,struct<${usageFields.map((field) => `${field}:bigint`).join(',')}>>`,
  numberByName: 'map<string,double>',
};

/** The types of columns as Athena writes them in a view: Trino's. */
const athenaTypes: Readonly<Record<ColumnKind, string>> = {
  text: 'varchar',
  timestamp: 'timestamp(3)',
  integer: 'bigint',
  number: 'double',
  flag: 'boolean',
  money,
  moneyByModel: `map(varchar, ${money})`,
  usageByModel: `map(varchar, row(${usageFields.map((field) => `${field} bigint`).join(', ')}))`,
  numberByName: 'map(varchar, double)',
};

const glueColumn = ({ name, kind, about }: Column) => ({ name, type: glueTypes[kind], comment: about });

/**
 * The day of the first file that is looked for. Calls that started before are in files, but in no
 * table.
 */
const firstDay = '2020-01-01';

/** Where Athena finds partitions without a crawler, a request to Glue or a listing. */
const projection = (location: string) => ({
  'projection.enabled': 'true',
  // Projects are not known when the stack is made: each query has to name the one that it is about.
  'projection.project.type': 'injected',
  'projection.day.type': 'date',
  'projection.day.format': 'yyyy-MM-dd',
  'projection.day.range': `${firstDay},NOW+1DAYS`,
  'storage.location.template': `${location}project=\${project}/day=\${day}/`,
});

/**
 * The database with a table and a view of each dataset. A view is what Athena itself would store
 * for CREATE VIEW: https://docs.aws.amazon.com/athena/latest/ug/views.html
 */
export class AnalyticsCatalog extends Construct {
  readonly database: string;
  readonly #database: CfnDatabase;
  readonly #bucket: AnalyticsBucket;

  constructor(scope: Construct, id: string, { name, bucket }: AnalyticsCatalogProps) {
    super(scope, id);
    this.database = name;
    this.#bucket = bucket;
    this.#database = new CfnDatabase(this, 'Database', {
      catalogId: Aws.ACCOUNT_ID,
      databaseInput: { name, description: 'Calls and feedback of a pennytrace service' },
    });
    for (const dataset of Object.keys(datasets) as Dataset[]) {
      const states = this.#statesTable(dataset);
      this.#view(dataset).addResourceDependency(states);
    }
  }

  #table(id: string, tableInput: CfnTable.TableInputProperty): CfnTable {
    const table = new CfnTable(this, id, {
      catalogId: Aws.ACCOUNT_ID,
      databaseName: this.database,
      tableInput,
    });
    table.addResourceDependency(this.#database);
    return table;
  }

  #statesTable(dataset: Dataset): CfnTable {
    const location = `s3://${this.#bucket.bucketName}/${dataset}/`;
    return this.#table(`${dataset}States`, {
      name: statesTable(dataset),
      description: `Every state of ${dataset}; the view ${dataset} has the last of each`,
      tableType: 'EXTERNAL_TABLE',
      parameters: { classification: 'parquet', EXTERNAL: 'TRUE', ...projection(location) },
      partitionKeys: [
        { name: 'project', type: 'string' },
        { name: 'day', type: 'string' },
      ],
      storageDescriptor: {
        location,
        columns: datasets[dataset].map(glueColumn),
        inputFormat: 'org.apache.hadoop.hive.ql.io.parquet.MapredParquetInputFormat',
        outputFormat: 'org.apache.hadoop.hive.ql.io.parquet.MapredParquetOutputFormat',
        serdeInfo: {
          serializationLibrary: 'org.apache.hadoop.hive.ql.io.parquet.serde.ParquetHiveSerDe',
        },
      },
    });
  }

  #view(dataset: Dataset): CfnTable {
    const columns = viewColumns(dataset);
    const definition = {
      originalSql: viewQuery(dataset),
      catalog: 'awsdatacatalog',
      schema: this.database,
      columns: columns.map(({ name, kind }) => ({ name, type: athenaTypes[kind] })),
    };
    const encoded = Buffer.from(JSON.stringify(definition)).toString('base64');
    return this.#table(`${dataset}View`, {
      name: dataset,
      description: `The last state of ${dataset}, without what was deleted`,
      tableType: 'VIRTUAL_VIEW',
      parameters: { presto_view: 'true', comment: 'Presto View' },
      partitionKeys: [],
      viewOriginalText: `/* Presto View: ${encoded} */`,
      viewExpandedText: '/* Presto View */',
      storageDescriptor: { columns: columns.map(glueColumn), location: '', serdeInfo: {} },
    });
  }
}
