import { Aws } from 'aws-cdk-lib';
import { CfnDatabase, CfnTable } from 'aws-cdk-lib/aws-glue';
import type { Bucket } from 'aws-cdk-lib/aws-s3';
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
import { statesTable, viewColumns, viewQuery } from './analytics-queries.ts';

export interface AnalyticsCatalogProps {
  /** The name of the database, in lower case. */
  readonly name: string;
  readonly bucket: Bucket;
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
  readonly #bucket: Bucket;

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
