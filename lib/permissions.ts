import { Aws, CfnElement, Stack } from 'aws-cdk-lib';
import type { Table } from 'aws-cdk-lib/aws-dynamodb';
import type { Bucket } from 'aws-cdk-lib/aws-s3';
import type { IConstruct } from 'constructs';
import type { Actions, Stores } from '../api/access.ts';
import * as access from '../api/access.ts';
import { type IndexName, type TableName, tables } from '../foundations/storage/tables.ts';
import type { Config } from './config.ts';
import type { Storage } from './storage.ts';

/** Something that a function may do: these actions on this ARN. */
export interface Permission {
  readonly actions: readonly string[];
  readonly resource: string;
  /** For an ARN with a wildcard: cdk-nag's name of it, and why it is needed. @default - none */
  readonly wildcard?: { readonly finding: string; readonly reason: string };
  /** As IAM has it. @default - none */
  readonly conditions?: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>;
}

/** What a function needs for something. */
export interface Needs {
  /** Its environment variables. @default - none */
  readonly environment?: Readonly<Record<string, string>>;
  /** What it may do. @default - nothing */
  readonly permissions?: readonly Permission[];
  /** Whether it stores what clients report, which the setting `redact` redacts. @default false */
  readonly storesReports?: boolean;
  /** Whether it says which rules of redaction there are. @default false */
  readonly showsRules?: boolean;
}

/** All of what a function needs for several things. */
export const combine = (needs: readonly (Needs | undefined)[]): Required<Needs> => {
  const definedNeeds = needs.filter((need) => need !== undefined);
  return {
    environment: Object.fromEntries(
      definedNeeds.flatMap(({ environment = {} }) => Object.entries(environment)),
    ),
    permissions: definedNeeds.flatMap(({ permissions = [] }) => permissions),
    storesReports: definedNeeds.some(({ storesReports }) => storesReports),
    showsRules: definedNeeds.some(({ showsRules }) => showsRules),
  };
};

/** cdk-nag writes the ARN of a resource as `<LogicalId.Arn>`. */
export const toFinding = (resource: IConstruct, path: string): string => {
  const child = resource.node.defaultChild;
  if (!child || !CfnElement.isCfnElement(child)) throw new Error(`${resource.node.path} is no resource`);
  return `<${Stack.of(resource).getLogicalId(child)}.Arn>${path}`;
};

/** What is done to a table: to itself, and to its indexes. */
const tablePermissions = (tableArn: string, { table = [], indexes = [] }: Actions): Permission[] => [
  ...(table.length > 0 ? [{ actions: table.map((action) => `dynamodb:${action}`), resource: tableArn }] : []),
  ...indexes.map((index) => ({ actions: ['dynamodb:Query'], resource: `${tableArn}/index/${index}` })),
];

/** What a function needs that does this to a table: the table's name and permissions. */
export const tableNeeds = (
  name: TableName,
  { tableName, tableArn }: Table,
  actions: Actions = {},
): Needs => ({
  environment: { [tables[name].variable]: tableName },
  permissions: tablePermissions(tableArn, actions),
});

/** What a function needs that puts events on a bus of the account and region. */
export const busNeeds = (bus: string): Needs => ({
  environment: { EVENT_BUS: bus },
  permissions: [
    {
      actions: ['events:PutEvents'],
      resource: `arn:${Aws.PARTITION}:events:${Aws.REGION}:${Aws.ACCOUNT_ID}:event-bus/${bus}`,
    },
  ],
});

/** What is done to the objects of the bucket below a prefix. */
const objectPermissions = (
  bucket: Bucket,
  prefix: string,
  { objects: actions = [], lists }: Actions,
): Permission[] => {
  if (actions.length === 0) return [];
  const objects: Permission = {
    actions: actions.map((action) => `s3:${action}`),
    resource: bucket.arnForObjects(`${prefix}/*`),
    wildcard: {
      finding: toFinding(bucket, `/${prefix}/*`),
      reason: 'Objects are named after what is in them; the actions are all that this function does to one.',
    },
  };
  // Without it S3 answers 403 for an object that does not exist.
  const list: Permission = { actions: ['s3:ListBucket'], resource: bucket.bucketArn };
  return lists || actions.includes('GetObject') ? [objects, list] : [objects];
};

/** A way of accessing a store, and whether it brings something of a client's into the store. */
interface Way<Index extends string = string> extends Actions<Index> {
  readonly stores?: boolean;
}

/** Access to calls, also that of functions that streams and queues wake. */
const calls = {
  ...access.calls,
  /** For analytics: reads the other half of a call whose one half a stream has, and segments of payloads. */
  copy: { table: ['BatchGetItem'] },
  /** For events and evaluators: keeps the places of starts that come after their ends, too. */
  publish: { table: ['BatchGetItem', 'PutItem'] },
  /** Reads calls and traces, and writes whole calls of judges. */
  judge: { stores: true, table: ['BatchGetItem', 'BatchWriteItem', 'Query'], indexes: ['by_trace'] },
} as const satisfies Readonly<Record<string, Way<IndexName<'calls'>>>>;

/** Access to the table `bookkeeping`, also that of functions that schedules and queues wake. */
const bookkeeping = {
  ...access.bookkeeping,
  /** For judges: does what spending takes, and finds, takes and ends leases. */
  judge: { table: ['BatchGetItem', 'DeleteItem', 'PutItem', 'Query', 'UpdateItem'] },
  /**
   * For alerts, whose states are beside the rollups. A transaction stores what was found on condition
   * that the project's claim holds.
   */
  watch: {
    table: ['BatchGetItem', 'BatchWriteItem', 'ConditionCheckItem', 'DeleteItem', 'PutItem', 'Query'],
  },
} as const satisfies Readonly<Record<string, Actions<IndexName<'bookkeeping'>>>>;

/** The stores that a function accesses, and how. */
type Accesses = Omit<Stores, 'calls' | 'bookkeeping'> & {
  readonly calls?: keyof typeof calls;
  readonly bookkeeping?: keyof typeof bookkeeping;
};

/** The tables of all stores. */
type StoreTables = Pick<Storage, keyof Storage & TableName> & { readonly keys: Table };

/** The ways in which stores are accessed, each with its table, and the prefix of its objects. */
const listWays = (stores: Accesses) => {
  const ways: readonly (readonly [keyof StoreTables, string, Way | undefined])[] = [
    ['calls', 'segments', stores.calls && calls[stores.calls]],
    ['calls', 'segments', stores.payloads && access.payloads[stores.payloads]],
    ['calls', 'answers', stores.answers && access.answers[stores.answers]],
    ['objects', 'objects', stores.objects && access.objects[stores.objects]],
    ['objects', 'files', stores.files && access.files[stores.files]],
    ['objects', 'tables', stores.tables && access.rowTables[stores.tables]],
    ['costs', 'costs', stores.costs && access.costs[stores.costs]],
    ['feedback', 'feedback', stores.feedback && access.feedback[stores.feedback]],
    ['bookkeeping', 'bookkeeping', stores.bookkeeping && bookkeeping[stores.bookkeeping]],
    ['keys', 'keys', stores.keys && access.keys[stores.keys]],
    ['audit', 'audit', stores.audit && access.audit[stores.audit]],
  ];
  return ways.flatMap(([table, prefix, way]) => (way ? [{ table, prefix, way }] : []));
};

/** Whether a function that accesses these stores brings something of a client's into one. */
export const storesReports = ({ stores }: { readonly stores: Accesses }): boolean =>
  listWays(stores).some(({ way }) => way.stores);

/** What every function needs that accesses stores of calls or what belongs to them. */
export const shardsNeeds = ({ shards }: Pick<Config, 'shards'>): Needs => ({
  environment: { SHARDS: shards.join(',') },
});

interface StoreNeedsProps {
  readonly config: Pick<
    Config,
    'auditDays' | 'environmentSources' | 'keepFeedback' | 'retentionDays' | 'shards'
  >;
  readonly storage: Storage;
  /** The table of keys. */
  readonly keys: Table;
}

/** What a function needs that accesses stores in these ways, and nothing else. */
export const storeNeeds = (stores: Accesses, { config, storage, keys }: StoreNeedsProps): Needs => {
  const ways = listWays(stores);
  if (ways.length === 0) return {};
  const { retentionDays, environmentSources } = config;
  const reports = storesReports({ stores });
  const storeTables: StoreTables = { ...storage, keys };
  const { payloads } = storage;
  const keepsFeedback = stores.feedback === 'serve' && config.keepFeedback;
  const hasObjects = stores.payloads || stores.objects || stores.files || stores.tables || stores.feedback;
  return combine([
    shardsNeeds(config),
    retentionDays === undefined ? undefined : { environment: { RETENTION_DAYS: String(retentionDays) } },
    hasObjects ? { environment: { PAYLOADS_BUCKET: payloads.bucketName } } : undefined,
    stores.audit ? { environment: { AUDIT_DAYS: String(config.auditDays) } } : undefined,
    keepsFeedback ? { environment: { KEEP_FEEDBACK: '1' } } : undefined,
    ...ways.flatMap(({ table, prefix, way }) => [
      tableNeeds(table, storeTables[table], way),
      { permissions: objectPermissions(payloads, prefix, way) },
    ]),
    reports && stores.calls && environmentSources
      ? { environment: { ENVIRONMENT_SOURCES: JSON.stringify(environmentSources) } }
      : undefined,
    { storesReports: reports },
  ]);
};
