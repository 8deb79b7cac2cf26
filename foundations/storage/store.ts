import { Agent as HttpAgent } from 'node:http';
import { Agent } from 'node:https';
import { DynamoDBClient, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';
import type { S3Client } from '@aws-sdk/client-s3';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { chooseShard } from '../encoding/index.ts';
import type { Redactor } from '../redaction/index.ts';
import type { ProjectId } from '../wire/index.ts';
import type { Bucket } from './bucket.ts';
import type { RequestBudget } from './requests.ts';
import { toBucketDays } from './retention.ts';
import type { Table } from './table.ts';
import type { ExpiryOf } from './tables.ts';

/**
 * The connections that a container keeps to each store. It serves one request at a time, which
 * seldom has more batches, pages and writes under way.
 */
const maxSockets = 64;

/** Connections with time-outs: one second to connect, so many ms to answer. They are kept unless told otherwise. */
export const httpHandler = (requestTimeoutMs: number, { keepAlive = true } = {}) =>
  new NodeHttpHandler({
    connectionTimeout: 1000,
    requestTimeout: requestTimeoutMs,
    // Without it a time-out is only logged.
    throwOnRequestTimeout: true,
    httpAgent: new HttpAgent({ keepAlive, maxSockets }),
    httpsAgent: new Agent({ keepAlive, maxSockets }),
  });

/**
 * Makes a DynamoDB client for the life of a container: keep-alive, one second to connect, three to
 * answer.
 *
 * @param config what differs, e.g. the endpoint; functions need none
 */
export const dynamodbClient = (config: DynamoDBClientConfig = {}): DynamoDBClient => {
  const client = new DynamoDBClient({ maxAttempts: 3, requestHandler: httpHandler(3000), ...config });
  // It copies every row of every answer, even without a logger.
  client.middlewareStack.removeByTag('LOGGER');
  return client;
};

/**
 * Loads and makes an S3 client for the life of a container. It has keep-alive, one second to
 * connect, and six to answer (objects have up to 6 MB).
 */
export const s3Client = async (): Promise<S3Client> => {
  const { S3Client } = await import('@aws-sdk/client-s3');
  return new S3Client({
    maxAttempts: 3,
    requestHandler: httpHandler(6000),
    // Bodies are zstd frames with a checksum of their own. A trailing CRC would need a chunked
    // upload.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  });
};

/** The days after which a project deletes what it holds. What is absent is kept. */
export interface ProjectRetention {
  readonly callsDays?: number | undefined;
  readonly feedbackDays?: number | undefined;
}

/** What is noted of projects beside what they hold, in all containers. */
export interface NotedProjects {
  /**
   * Waits until it is known how long projects keep what they hold, at most two seconds and half of what is left
   * of the budget: what is not known then counts as kept. It never throws.
   */
  readonly learnRetention: (
    projects: Iterable<ProjectId>,
    budget: Pick<RequestBudget, 'deadline'>,
  ) => Promise<void>;
  /** How long a project keeps what it holds, as it was known here a minute ago at most. */
  readonly getRetention: (project: ProjectId) => ProjectRetention;
  /**
   * Notes that something waits in a project for calls that are still to come.
   *
   * @throws ServiceError 503 when storage does not accept it in time
   */
  readonly expectCalls: (project: ProjectId, budget: RequestBudget) => Promise<void>;
  /** Whether that was noted of a project, as far as it is known here. It never throws. */
  readonly expectsCalls: (project: ProjectId) => Promise<boolean>;
}

/** A table, the bucket for its large values, and the settings that the layout depends on. */
export interface Store {
  readonly table: Table;
  /** For values that are too big for an item. */
  readonly bucket: Bucket;
  /** Every shard count so far, the present one last. */
  readonly shards: readonly [number, ...number[]];
  /** The days after which items of all projects expire; undefined if they are kept. */
  readonly retentionDays?: number | undefined;
  /** Which days of a project's own retention count here. @default - none do */
  readonly projectDays?: keyof ProjectRetention | undefined;
  /**
   * Where rollups of calls and their marks are. A function that changes calls needs it, or rollups
   * go stale; without it nothing is rolled up. @default - none
   */
  readonly bookkeeping?: Table | undefined;
  /**
   * Begins to note that there is a project, beside a write to it. Nothing waits for it, and it never
   * throws. @default - nobody notes it
   */
  readonly noteProject?: ((project: ProjectId) => void) | undefined;
  /** What is noted of projects beside what they hold. @default - nothing is */
  readonly projects?: NotedProjects | undefined;
  /** The source of calls that name none, by the environment that they name. @default - none */
  readonly sourceOfEnvironment?:
    | ((project: ProjectId, environment: string) => string | undefined)
    | undefined;
  /** Gives what takes secrets out of all that is stored. @default - it is stored as it came */
  readonly redactor?: (() => Promise<Redactor>) | undefined;
}

/** The shard count that writes use. */
export const shardCount = ({ shards }: Pick<Store, 'shards'>): number => shards.at(-1) ?? shards[0];

/** Every shard of a project that writes have ever used. */
export const everyShard = ({ shards }: Pick<Store, 'shards'>): number[] =>
  Array.from({ length: Math.max(...shards) }, (_, shard) => shard);

/** The shards that an id can be in. An item stays in its shard when the count grows. */
export const possibleShards = ({ shards }: Pick<Store, 'shards'>, id: string): number[] => [
  ...new Set(shards.map((count) => chooseShard(id, count))),
];

type Expiry = ExpiryOf<'calls'> & ExpiryOf<'feedback'>;

/** The attribute that makes an item expire after so many days. */
export const expiryIn = (days: number): Expiry => ({
  x: Math.floor(Date.now() / 1000) + days * 86_400,
});

/** The fewer days; undefined if both are. */
export const fewerDays = (a: number | undefined, b: number | undefined): number | undefined =>
  a === undefined || b === undefined ? (a ?? b) : Math.min(a, b);

type Retaining = Pick<Store, 'retentionDays' | 'projectDays' | 'projects'>;

/**
 * The days after which items of a project expire, by its own retention or that of all, whichever is shorter;
 * undefined if they are kept.
 */
export const getRetentionDays = (
  { retentionDays, projectDays, projects }: Retaining,
  project: ProjectId,
): number | undefined =>
  fewerDays(retentionDays, projectDays && projects?.getRetention(project)[projectDays]);

/** The days after which the bucket deletes what is stored for a project; undefined if it is kept. */
export const getBucketDays = (store: Retaining, project: ProjectId): number | undefined => {
  const days = getRetentionDays(store, project);
  return days === undefined || days === store.retentionDays
    ? days
    : fewerDays(toBucketDays(days), store.retentionDays);
};

/**
 * The attribute that makes an item of a project expire, if there is a retention.
 *
 * @param graceDays days to add to the retention
 */
export const expiry = (store: Retaining, project: ProjectId, graceDays = 0): Partial<Expiry> => {
  const days = getRetentionDays(store, project);
  return days === undefined ? {} : expiryIn(days + graceDays);
};
