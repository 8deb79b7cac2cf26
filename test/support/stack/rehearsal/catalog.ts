import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { GetObjectCommand, HeadBucketCommand, ListObjectsV2Command, type S3Client } from '@aws-sdk/client-s3';
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { z } from 'zod';
import type { Provider } from './deploy.ts';

/** The rows of an answer. */
type Rows = readonly Readonly<Record<string, unknown>>[];

/** DuckDB in the places of Glue and Athena. */
export interface Catalog extends Disposable {
  readonly providers: Readonly<Record<string, Provider>>;
  /** Puts the rows of the files below each table's location into it. */
  readonly load: () => Promise<void>;
  /** Asks in a database. */
  readonly ask: (database: string, sql: string) => Promise<Rows>;
  /** Asks a named query, where it is to be asked. */
  readonly askNamed: (name: string) => Promise<Rows>;
}

const columns = z.array(z.object({ Name: z.string(), Type: z.string() }));
const tableInput = z.object({ Name: z.string(), StorageDescriptor: z.object({ Columns: columns }) });
const table = z.object({
  DatabaseName: z.string(),
  TableInput: z.discriminatedUnion('TableType', [
    tableInput.extend({
      TableType: z.literal('EXTERNAL_TABLE'),
      PartitionKeys: columns,
      Parameters: z.object({ 'storage.location.template': z.string() }),
    }),
    tableInput.extend({ TableType: z.literal('VIRTUAL_VIEW'), ViewOriginalText: z.string() }),
  ]),
});
const database = z.object({ DatabaseInput: z.object({ Name: z.string() }) });
const workGroup = z.object({
  Name: z.string(),
  WorkGroupConfiguration: z.object({ ResultConfiguration: z.object({ OutputLocation: z.string() }) }),
});
const namedQuery = z.object({
  Name: z.string(),
  Database: z.string(),
  WorkGroup: z.string(),
  QueryString: z.string(),
});
const view = z.object({
  originalSql: z.string(),
  schema: z.string(),
  columns: z.array(z.object({ name: z.string() })),
});

/** DuckDB's name of a type that Glue names as Hive does. */
const duckType = (type: string): string => {
  const [, key, value] = /^map<([^,]+),(.+)>$/.exec(type) ?? [];
  if (key && value) return `MAP(${duckType(key)}, ${duckType(value)})`;
  const [, fields] = /^struct<(.+)>$/.exec(type) ?? [];
  if (fields) return `STRUCT(${fields.replaceAll(':', ' ')})`;
  return type === 'string' ? 'VARCHAR' : type;
};

const columnList = (some: z.output<typeof columns>): string =>
  some.map(({ Name, Type }) => `"${Name}" ${duckType(Type)}`).join(', ');

/** The bucket, and the folder in it, of `s3://<bucket>/<folder>`. */
const parseLocation = (location: string): { bucket: string; folder: string } => {
  const [, bucket = '', folder = ''] = /^s3:\/\/([^/]+)\/(.*)$/.exec(location) ?? [];
  return { bucket, folder };
};

/** Where the files of a table lie, and how their keys tell its partitions. */
interface Files {
  readonly name: string;
  readonly location: string;
}

const partitions = ['project', 'day'] as const;

/** The files of a table with the values of its partitions. */
async function* listFiles(s3: S3Client, { location }: Files) {
  const { bucket, folder } = parseLocation(location);
  const pattern = folder.replace(/\$\{(\w+)\}/g, '(?<$1>.+)');
  const { Contents = [] } = await s3.send(new ListObjectsV2Command({ Bucket: bucket }));
  for (const { Key = '' } of Contents) {
    const { groups } = new RegExp(`^${pattern}[^/]+\\.parquet$`).exec(Key) ?? {};
    if (!groups) continue;
    const { Body } = await s3.send(new GetObjectCommand({ Bucket: bucket, Key }));
    yield { groups, body: (await Body?.transformToByteArray()) ?? new Uint8Array() };
  }
}

/** What makes the resources of analytics. Each needs what it names to be there. */
const makers = (
  duck: DuckDBConnection,
  s3: S3Client,
  tables: Files[],
  queries: Map<string, z.output<typeof namedQuery>>,
) => {
  const groups = new Set<string>();
  const makeTable: Provider = async ({ resource }) => {
    const { DatabaseName: schema, TableInput: input } = table.parse(resource.Properties);
    const name = `"${schema}"."${input.Name}"`;
    const { Columns } = input.StorageDescriptor;
    if (input.TableType === 'EXTERNAL_TABLE') {
      const location = input.Parameters['storage.location.template'];
      await s3.send(new HeadBucketCommand({ Bucket: parseLocation(location).bucket }));
      await duck.run(`CREATE TABLE ${name} (${columnList([...Columns, ...input.PartitionKeys])})`);
      tables.push({ name, location });
      return { ref: input.Name };
    }
    const [, encoded = ''] = /^\/\* Presto View: (\S+) \*\/$/.exec(input.ViewOriginalText) ?? [];
    const definition = view.parse(JSON.parse(Buffer.from(encoded, 'base64').toString()));
    await duck.run(`SET schema = '${definition.schema}'`);
    await duck.run(`CREATE VIEW ${name} AS ${definition.originalSql}`);
    const made = (await duck.runAndReadAll(`DESCRIBE ${name}`)).getRowObjectsJson();
    const names = made.map(({ column_name }) => column_name).join();
    for (const columnNames of [
      definition.columns.map((column) => column.name),
      Columns.map(({ Name }) => Name),
    ])
      if (columnNames.join() !== names)
        throw new Error(`${name} has ${names}, and says ${columnNames.join()}`);
    return { ref: input.Name };
  };
  const providers: Readonly<Record<string, Provider>> = {
    'AWS::Glue::Database': async ({ resource }) => {
      const { Name } = database.parse(resource.Properties).DatabaseInput;
      await duck.run(`CREATE SCHEMA "${Name}"`);
      // What Athena calls otherwise.
      await duck.run(`CREATE MACRO "${Name}".approx_percentile(x, p) AS quantile_cont(x, p)`);
      return { ref: Name };
    },
    'AWS::Glue::Table': makeTable,
    'AWS::Athena::WorkGroup': async ({ resource }) => {
      const { Name, WorkGroupConfiguration } = workGroup.parse(resource.Properties);
      const { bucket } = parseLocation(WorkGroupConfiguration.ResultConfiguration.OutputLocation);
      await s3.send(new HeadBucketCommand({ Bucket: bucket }));
      groups.add(Name);
      return { ref: Name };
    },
    'AWS::Athena::NamedQuery': async ({ resource }) => {
      const query = namedQuery.parse(resource.Properties);
      if (!groups.has(query.WorkGroup)) throw new Error(`there is no workgroup ${query.WorkGroup}`);
      queries.set(query.Name, query);
      return undefined;
    },
  };
  return providers;
};

/**
 * Makes a catalog.
 *
 * @param s3 where the buckets are
 * @param folder for files
 */
export const makeCatalog = async (s3: S3Client, folder: string): Promise<Catalog> => {
  const instance = await DuckDBInstance.create(':memory:');
  const duck = await instance.connect();
  const tables: Files[] = [];
  const queries = new Map<string, z.output<typeof namedQuery>>();
  const ask = async (schema: string, sql: string): Promise<Rows> => {
    await duck.run(`SET schema = '${schema}'`);
    return (await duck.runAndReadAll(sql)).getRowObjectsJson();
  };
  mkdirSync(folder, { recursive: true });
  return {
    providers: makers(duck, s3, tables, queries),
    load: async () => {
      for (const files of tables) {
        await duck.run(`DELETE FROM ${files.name}`);
        for await (const { groups, body } of listFiles(s3, files)) {
          const path = join(folder, 'rows.parquet');
          writeFileSync(path, body);
          const values = partitions.map((name) => `'${groups[name]}' AS ${name}`).join(', ');
          await duck.run(
            `INSERT INTO ${files.name} BY NAME SELECT *, ${values} FROM read_parquet('${path}')`,
          );
        }
      }
    },
    ask,
    askNamed: async (name) => {
      const query = queries.get(name);
      if (!query) throw new Error(`there is no query ${name}`);
      return ask(query.Database, query.QueryString);
    },
    [Symbol.dispose]: () => {
      duck.closeSync();
      instance.closeSync();
    },
  };
};
