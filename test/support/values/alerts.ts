import { randomUUID } from 'node:crypto';
import { alert } from '../../../api/alerts.ts';
import { noteAlerts } from '../../../core/records/alerts.ts';
import { createObject } from '../../../core/records/objects/index.ts';
import type { ParseAlert } from '../../../core/workers/alerts/alert.ts';
import { KnownAlerts, type Looked, lookAtAlerts, type Watch } from '../../../core/workers/alerts/look.ts';
import { type Message, targetName } from '../../../core/workers/alerts/message.ts';
import type { IssueEvent } from '../../../core/workers/alerts/new-issues.ts';
import { createLinks } from '../../../foundations/links.ts';
import { type RequestBudget, requestBudget } from '../../../foundations/storage/index.ts';
import type { JsonObject, ProjectId } from '../../../foundations/wire/index.ts';
import { createStores, getStore, type Stores } from '../service/stores.ts';
import { makeEnd, makeStart, send } from './calls.ts';
import { makeLookups } from './stats.ts';

/** The value of an alert about the share of calls that failed. */
export const errorRate = (fields: object = {}) => ({
  _type: 'Alert',
  name: 'Too many errors',
  metric: { metric: 'error_count', aggregation: 'avg' },
  window_minutes: 5,
  direction: 'above',
  warn: 0.1,
  alert: 0.5,
  tell: [{ sns: true }],
  enabled: true,
  ...fields,
});

/** The value of an alert about what feedback of a type says at `value`. */
export const meanScore = (feedback_type: string, fields: object = {}) => ({
  ...errorRate(),
  name: 'Poor answers',
  metric: { feedback_type, path: 'value', aggregation: 'avg' },
  direction: 'below',
  warn: null,
  ...fields,
});

/** Tables with alerts that somebody looks at, on a clock that a test moves on. */
export interface AlertWorld {
  readonly watch: Watch;
  readonly stores: Stores;
  /** What was told, the messages' targets included. */
  readonly sent: { readonly message: Message; readonly target: string }[];
  /** The events of new issues. */
  readonly issues: IssueEvent[];
  /** The time, in milliseconds since 1970. */
  now: number;
  /** Why telling fails; undefined if it does not. */
  fails: string | undefined;
}

/** Reads the value of an alert, as functions do. */
export const parseAlert: ParseAlert = (value) => {
  const result = alert().safeParse(value);
  return result.success ? result.data : undefined;
};

/** Makes empty tables, at a whole hour some hours from now: what is stored now was stored before. */
export const makeAlertWorld = async (tables?: Stores): Promise<AlertWorld> => {
  const stores = tables ?? (await createStores());
  const table = { client: stores.dynamodb, name: stores.rollupsTable };
  const hour = 3_600_000;
  const world = {
    stores,
    sent: [] as { message: Message; target: string }[],
    issues: [] as IssueEvent[],
    now: Math.ceil(Date.now() / hour) * hour + 2 * hour,
    fails: undefined as string | undefined,
  };
  const now = () => world.now;
  const watch: Watch = {
    table,
    now,
    sources: {
      calls: { ...getStore(stores, stores.callsTable), bookkeeping: table },
      feedback: { ...getStore(stores, stores.feedbackTable), bookkeeping: table },
      objects: getStore(stores, stores.objectsTable),
      lookups: makeLookups('acme/shop' as ProjectId),
    },
    alerts: new KnownAlerts(getStore(stores, stores.objectsTable), parseAlert, now),
    send: async (message, target) => {
      if (world.fails !== undefined) throw new Error(world.fails);
      world.sent.push({ message, target: targetName(target) });
    },
    tellIssue: async (event) => {
      if (world.fails !== undefined) throw new Error(world.fails);
      world.issues.push(event);
    },
    links: createLinks('https://traces.example/api'),
  };
  return Object.assign(world, { watch });
};

/** Saves an alert as the endpoint does, and lets it be known that it changed. */
export const saveAlert = async (
  { stores, watch: { table }, now }: AlertWorld,
  projectId: ProjectId,
  val: JsonObject,
  objectId = 'a',
): Promise<void> => {
  await noteAlerts(table, projectId, { ...requestBudget(60_000), deadline: now + 5000 });
  const objects = getStore(stores, stores.objectsTable);
  await createObject(objects, { projectId, objectId, val }, 'ada', requestBudget(60_000));
};

const minuteMs = 60_000;

/** Reports calls that started so many minutes ago, by the clock of the world. */
export const reportCalls = async (
  { watch, now }: AlertWorld,
  project_id: ProjectId,
  calls: readonly {
    readonly minutesAgo: number;
    readonly failed?: boolean;
    readonly [field: string]: unknown;
  }[],
): Promise<void> => {
  const batch = calls.flatMap(({ minutesAgo, failed, ms = 1000, summary = {}, ...start }) => {
    const at = now - minutesAgo * minuteMs;
    const id = randomUUID();
    return [
      makeStart({ project_id, id, trace_id: id, started_at: new Date(at).toISOString(), ...start }),
      makeEnd({
        project_id,
        id: start.id ?? id,
        ended_at: new Date(at + Number(ms)).toISOString(),
        summary,
        ...(failed && { exception: 'it failed' }),
      }),
    ];
  });
  await send(watch.sources.calls, batch);
};

/** Looks at all alerts that are due, so many minutes later. */
export const lookAfter = async (
  world: AlertWorld,
  minutes: number,
): Promise<Looked & { budget: RequestBudget }> => {
  world.now += minutes * minuteMs;
  const budget = requestBudget(60_000);
  return { ...(await lookAtAlerts(world.watch, budget)), budget };
};
