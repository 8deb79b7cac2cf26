import type { AuditStore } from '../../../core/records/audit.ts';
import { ProjectNotes } from '../../../core/records/projects.ts';
import { hasProject } from '../../../foundations/auth/roles.ts';
import {
  type Bucket,
  dynamodbClient,
  type Store,
  s3Client,
  type Table,
} from '../../../foundations/storage/index.ts';
import type { TableVariable } from '../../../foundations/storage/tables.ts';
import { letHeapGrow } from '../heap.ts';

/**
 * The stores of a function, as its environment names them: those of its route alone. Any other throws
 * an Error.
 */
export interface DeployedStores {
  readonly calls: Store;
  readonly objects: Store;
  readonly costs: Store;
  readonly feedback: Store;
  /** The audit trail. */
  readonly audit: AuditStore;
  /** The keys of callers, and what members are granted. */
  readonly keys: Table;
  /** The projects that there are, rollups of calls, and their marks. */
  readonly bookkeeping: Table;
  /** Notes on projects; undefined where the function makes none. */
  readonly notes: ProjectNotes | undefined;
  /** The feedback that is deleted together with calls; undefined if it stays. */
  readonly feedbackToErase: Store | undefined;
}

/** What an environment variable gives. Throws an Error if it is not set. */
const requireVariable = <T>(name: string, value: T | undefined): T => {
  if (value === undefined) throw new Error(`the environment variable ${name} is not set`);
  return value;
};

const variable = (name: string): string => requireVariable(name, process.env[name] || undefined);

/** Parses a history of shard counts, e.g. `4,16`. */
const readShards = (text: string): Store['shards'] => {
  const [first, ...more] = text.split(',').map(Number);
  const counts = [first ?? Number.NaN, ...more] as const;
  if (counts.some((count) => !Number.isInteger(count) || count < 1)) throw new Error(`SHARDS is ${text}`);
  return counts;
};

/** After how many days items expire; undefined if they are kept. */
const readRetention = (): number | undefined => {
  const { RETENTION_DAYS: days } = process.env;
  return days ? Number(days) : undefined;
};

/** Reads which source the calls of an environment have, by scopes of projects; a narrower scope goes first. */
const readEnvironmentSources = (): Store['sourceOfEnvironment'] => {
  const { ENVIRONMENT_SOURCES: text } = process.env;
  if (!text) return undefined;
  const scopes = Object.entries(
    JSON.parse(text) as Readonly<Record<string, Readonly<Record<string, string>>>>,
  );
  // `acme/shop`, then `acme/*`, then `*`.
  const breadth = (scope: string): number => (scope === '*' ? 2 : scope.endsWith('/*') ? 1 : 0);
  scopes.sort(([a], [b]) => breadth(a) - breadth(b));
  return (project, environment) =>
    scopes.find(([scope, sources]) => hasProject(scope, project) && Object.hasOwn(sources, environment))?.[1][
      environment
    ];
};

/** Loads what redacts, at the first request that stores something. A failure is tried again. */
const lazyRedactor = (module: string): NonNullable<Store['redactor']> => {
  let loaded: ReturnType<NonNullable<Store['redactor']>> | undefined;
  const load = async () => {
    // The path is not known to the bundler, so it lies beside the bundle.
    const { makeRedactor } = (await import(module)) as typeof import('../redaction.ts');
    return makeRedactor(process.env.REDACTION_KEY);
  };
  return () => {
    loaded ??= load().catch((error: unknown) => {
      loaded = undefined;
      throw error;
    });
    return loaded;
  };
};

/** The bucket. Its client is made at its first use, since most requests do without. */
const lazyBucket = (name: string): Bucket => {
  let client: ReturnType<typeof s3Client> | undefined;
  return {
    name,
    get client() {
      client ??= s3Client();
      return client;
    },
  };
};

const readStores = (): DeployedStores => {
  const { PAYLOADS_BUCKET, REDACTION, KEEP_FEEDBACK } = process.env;
  const payloads = PAYLOADS_BUCKET ? lazyBucket(PAYLOADS_BUCKET) : undefined;
  // Made while the container starts, so that no request waits for it.
  const client = dynamodbClient();
  const { BOOKKEEPING_TABLE } = process.env;
  const bookkeeping = BOOKKEEPING_TABLE ? { client, name: BOOKKEEPING_TABLE } : undefined;
  const notes = bookkeeping && new ProjectNotes(bookkeeping);
  const redactor = REDACTION ? lazyRedactor(REDACTION) : undefined;
  const sourceOfEnvironment = readEnvironmentSources();
  const readStore = (
    tableVariable: TableVariable,
    {
      marksHours = false,
      projectDays,
    }: { readonly marksHours?: boolean; readonly projectDays?: Store['projectDays'] } = {},
  ): Store | undefined => {
    const name = process.env[tableVariable];
    if (!name) return undefined;
    return {
      table: { client, name },
      // Not every route with a table touches the bucket.
      get bucket() {
        return requireVariable('PAYLOADS_BUCKET', payloads);
      },
      // Only routes that touch a store know its layout.
      shards: readShards(variable('SHARDS')),
      retentionDays: readRetention(),
      projectDays,
      bookkeeping: marksHours ? bookkeeping : undefined,
      noteProject: notes && ((project) => notes.note(project)),
      projects: notes,
      redactor,
      sourceOfEnvironment,
    };
  };
  const calls = readStore('CALLS_TABLE', { marksHours: true, projectDays: 'callsDays' });
  const objects = readStore('OBJECTS_TABLE');
  const costs = readStore('COSTS_TABLE');
  const feedback = readStore('FEEDBACK_TABLE', { marksHours: true, projectDays: 'feedbackDays' });
  const { AUDIT_TABLE, AUDIT_DAYS, KEYS_TABLE } = process.env;
  const audit = AUDIT_TABLE ? { table: { client, name: AUDIT_TABLE }, days: Number(AUDIT_DAYS) } : undefined;
  const keys = KEYS_TABLE ? { client, name: KEYS_TABLE } : undefined;
  return {
    get calls() {
      return requireVariable('CALLS_TABLE', calls);
    },
    get objects() {
      return requireVariable('OBJECTS_TABLE', objects);
    },
    get costs() {
      return requireVariable('COSTS_TABLE', costs);
    },
    get feedback() {
      return requireVariable('FEEDBACK_TABLE', feedback);
    },
    get audit() {
      return requireVariable('AUDIT_TABLE', audit);
    },
    get keys() {
      return requireVariable('KEYS_TABLE', keys);
    },
    get bookkeeping() {
      return requireVariable('BOOKKEEPING_TABLE', bookkeeping);
    },
    notes,
    feedbackToErase: KEEP_FEEDBACK ? undefined : feedback,
  };
};

letHeapGrow();

/** Read once per container, together with the AWS clients and their connections. */
export const stores: DeployedStores = readStores();
