import { shortDigest } from '../../../foundations/encoding/index.ts';
import type { Links } from '../../../foundations/links.ts';
import {
  mapConcurrent,
  type RequestBudget,
  type Store,
  type Table,
} from '../../../foundations/storage/index.ts';
import { formatTime, type Micros, type ProjectId, ServiceError } from '../../../foundations/wire/index.ts';
import { type LoadedAlert, type ParseAlert, readAlerts } from './alert.ts';
import { findContributors, windowLink } from './contributors.ts';
import {
  type Change,
  decide,
  getThreshold,
  nextLook,
  noStanding,
  type Standing,
  windowEnd,
} from './decide.ts';
import { deliver, waitingIn } from './deliver.ts';
import {
  countsIssues,
  type Measured,
  measure,
  measureBy,
  measureText,
  type Sources,
  toWindow,
  type Wanted,
} from './measure.ts';
import type { Contributor, Message, Tell } from './message.ts';
import {
  countNew,
  findNewIssues,
  type KnownIssues,
  knownItem,
  newestIssues,
  readKnown,
  type TellIssue,
  tellOpened,
} from './new-issues.ts';
import {
  claim,
  type Dispatch,
  isDue,
  type Notification,
  type Registered,
  readDispatches,
  readRegister,
  readStandings,
  release,
  type Standings,
  store,
  storeItems,
  unregister,
} from './register.ts';

/** The alerts of projects, read once and remembered for as long as nobody has changed one. */
export class KnownAlerts {
  readonly #objects: Store;
  readonly #parse: ParseAlert;
  readonly #now: () => number;
  readonly #known = new Map<
    ProjectId,
    { readonly readAt: number; readonly alerts: readonly LoadedAlert[] }
  >();

  /** @param now the time, in milliseconds since 1970 */
  constructor(objects: Store, parse: ParseAlert, now: () => number = Date.now) {
    this.#objects = objects;
    this.#parse = parse;
    this.#now = now;
  }

  /**
   * The alerts of a project.
   *
   * @param since what was read before this time does not count, in milliseconds since 1970
   */
  async getAlerts(
    projectId: ProjectId,
    since: number,
    budget: RequestBudget,
  ): Promise<readonly LoadedAlert[]> {
    const known = this.#known.get(projectId);
    const readAt = this.#now();
    if (known && known.readAt > since && readAt - known.readAt < rememberedMs) return known.alerts;
    const alerts = await readAlerts(this.#objects, projectId, null, this.#parse, budget);
    this.#known.set(projectId, { readAt, alerts });
    return alerts;
  }
}

/** How long alerts are remembered, in milliseconds. What comes back from a backup is seen after that. */
const rememberedMs = 3_600_000;

/** What looking at alerts takes. */
export interface Watch {
  /** Where the register is. */
  readonly table: Table;
  readonly sources: Sources;
  readonly alerts: KnownAlerts;
  readonly send: Tell;
  /** Tells of new issues. */
  readonly tellIssue: TellIssue;
  readonly links: Links;
  /** The time, in milliseconds since 1970. */
  readonly now: () => number;
}

/** What became of looking. */
export interface Looked {
  /** How many alerts were looked at. */
  readonly looks: number;
  /** How many messages could not be delivered, and will be tried again or were given up. */
  readonly undelivered: number;
  /** What went wrong. What it has held up is tried again. */
  readonly problems: readonly unknown[];
}

/** How long a claim holds, in milliseconds: longer than the function may take. */
const claimMs = 150_000;
/** The time that storing what was found and its delivery are left, in milliseconds. */
const reserveMs = 20_000;
/** How many projects are looked at together. */
const concurrency = 4;

/** Windows up to an hour are read together, and before the others. New issues come last. */
const isShort = ({ alert }: LoadedAlert): boolean => alert.windowMinutes <= 60;

/** The longest that finding contributors may take, in milliseconds: a message goes out without them, too. */
const contributorsMs = 10_000;

/** A value as JSON has it: what grew from 0 has none. */
export const finite = (value: number | null): number | null => (Number.isFinite(value) ? value : null);

const messageId = (projectId: ProjectId, objectId: string, { kind }: Change, end: Micros): string =>
  shortDigest(JSON.stringify([projectId, objectId, kind, end])).toString('hex');

/** Makes a message. */
export const toMessage = (
  { projectId, objectId, digest, alert }: LoadedAlert,
  { kind, state, previous }: Pick<Message, 'kind' | 'state' | 'previous'>,
  { value, compared }: Measured,
  more: Pick<Message, 'id' | 'contributors' | 'link'> & { readonly end: Micros; readonly at: Micros },
): Message => {
  const [start, end] = toWindow(alert, more.end);
  return {
    id: more.id,
    kind,
    project_id: projectId,
    alert: { object_id: objectId, name: alert.name, digest },
    state,
    previous,
    metric: measureText(alert.metric),
    value: finite(value),
    threshold: getThreshold(alert, state),
    direction: alert.direction,
    compare: alert.compare,
    compared,
    window: { start: formatTime(start), end: formatTime(end) },
    contributors: more.contributors,
    link: more.link,
    at: formatTime(more.at),
  };
};

/** An alert that was looked at, and what that has led to. */
interface Judged {
  readonly loaded: LoadedAlert;
  readonly end: Micros;
  readonly measured: Measured | null;
  readonly standing: Standing;
  readonly change: Change | null;
}

/** Looks at one project that was claimed. */
class ProjectLook {
  readonly #watch: Watch;
  readonly #claimed: Registered;
  readonly #budget: RequestBudget;
  readonly #now: Micros;
  /** What is known of issues, if they were looked for. */
  #issues: KnownIssues | undefined;
  /** How many new issues could not be told. */
  #untold = 0;
  readonly problems: unknown[] = [];

  constructor(watch: Watch, claimed: Registered, budget: RequestBudget) {
    this.#watch = watch;
    this.#claimed = claimed;
    this.#budget = budget;
    this.#now = watch.now() * 1000;
  }

  async look(): Promise<Omit<Looked, 'problems'>> {
    const { table, alerts: known } = this.#watch;
    const { projectId, changingUntil } = this.#claimed;
    const standings = await readStandings(table, projectId, this.#budget);
    const alerts = await known.getAlerts(projectId, changingUntil, this.#budget);
    if (alerts.length === 0 && standings.undelivered.length === 0 && this.#now > changingUntil * 1000) {
      await unregister(table, this.#claimed, this.#budget);
      return { looks: 0, undelivered: 0 };
    }
    const judged = await this.#judge(
      alerts.filter((alert) => this.#isDue(alert, standings)),
      standings,
    );
    const changed = await this.#stillThere(judged, alerts);
    const notifications = await this.#toNotifications(changed);
    const found = new Map(
      judged
        .filter((result) => result.change === null || changed.includes(result))
        .map(({ loaded, standing }) => [loaded.objectId, standing]),
    );
    const next: Standings = {
      storedAt: this.#now / 1000,
      // Those that are no more are left out.
      alerts: new Map(
        alerts.flatMap(({ objectId }): [string, Standing][] => {
          const standing = found.get(objectId) ?? standings.alerts.get(objectId);
          return standing ? [[objectId, standing]] : [];
        }),
      ),
      undelivered: [...standings.undelivered, ...(notifications.length > 0 ? [this.#now] : [])],
    };
    const dispatch: Dispatch = { at: this.#now, notifications };
    if (notifications.length > 0) {
      // Before anything is told, it is known that it is to be told.
      const findings = { standings: next, dispatches: [dispatch] };
      if (!(await store(table, this.#claimed, findings, this.#budget))) return { looks: 0, undelivered: 0 };
    }
    const waiting = await this.#finish(alerts, standings, next, notifications.length > 0 ? [dispatch] : []);
    return { looks: judged.length, undelivered: waiting + this.#untold };
  }

  /** Tells what waits, and gives the project back. Returns how many messages failed to arrive. */
  async #finish(
    alerts: readonly LoadedAlert[],
    before: Standings,
    next: Standings,
    fresh: readonly Dispatch[],
  ): Promise<number> {
    const { table, send, now } = this.#watch;
    const { projectId } = this.#claimed;
    const earlier = await readDispatches(table, projectId, before.undelivered, this.#budget);
    const spent = { ...this.#budget, deadline: this.#budget.deadline - reserveMs / 2 };
    const dispatches = await deliver(send, [...earlier, ...fresh], now, spent);
    const tried = dispatches.filter((dispatch, i) => !isSame(dispatch, [...earlier, ...fresh][i]));
    const left = dispatches.filter((dispatch) => waitingIn([dispatch]).length > 0);
    const standings = { ...next, undelivered: left.map(({ at }) => at) };
    const isWorthStoring =
      tried.length > 0 || standings.undelivered.length < next.undelivered.length || differ(before, next);
    const waiting = waitingIn(left).map(({ nextAt }) => nextAt);
    const looks = alerts
      .filter(({ alert }) => alert.enabled)
      .map(({ alert }) => nextLook(alert, this.#now) / 1000);
    const due = Math.min(...waiting, ...looks, now() + rememberedMs);
    const findings = isWorthStoring ? { standings, dispatches: tried } : null;
    await release(table, this.#claimed, { due, lookedAt: this.#now }, findings, this.#budget);
    return tried
      .flatMap(({ notifications }) => notifications.flatMap(({ sendings }) => sendings))
      .filter(({ problem }) => problem !== null).length;
  }

  #isDue({ objectId, digest, alert }: LoadedAlert, { alerts }: Standings): boolean {
    if (!alert.enabled) return false;
    const standing = alerts.get(objectId);
    return (
      standing?.digest !== digest || windowEnd(alert, this.#now) > windowEnd(alert, this.#claimed.lookedAt)
    );
  }

  /** Measures alerts, those of short windows first and those of new issues last, and decides. */
  async #judge(due: readonly LoadedAlert[], standings: Standings): Promise<Judged[]> {
    const ofIssues = due.filter(({ alert }) => countsIssues(alert.metric));
    const others = due.filter(({ alert }) => !countsIssues(alert.metric));
    const short = others.filter(isShort);
    const long = others.filter((alert) => !isShort(alert));
    const { deadline } = this.#budget;
    // What long windows and issues take must not hold up what was found of the others.
    const most = { ...this.#budget, deadline: Math.max(Date.now(), deadline - reserveMs) };
    const { sources, now } = this.#watch;
    const { projectId } = this.#claimed;
    const ofCalls = (windows: readonly Wanted[]) => measure(sources, projectId, windows, most, now);
    return [
      ...(await this.#judgeTogether(short, standings, ofCalls)),
      ...(await this.#judgeTogether(long, standings, ofCalls)),
      ...(await this.#judgeTogether(ofIssues, standings, (windows) => this.#measureIssues(windows, most))),
    ];
  }

  /** Looks for new issues, tells of them, and keeps what is known then. */
  async #measureIssues(windows: readonly Wanted[], budget: RequestBudget): Promise<Measured[]> {
    const { table, sources, tellIssue, links, now } = this.#watch;
    const { projectId, lookedAt } = this.#claimed;
    const before = await readKnown(table, projectId, budget);
    const { known, changed } = await findNewIssues(
      sources,
      projectId,
      before,
      { lookedAt, at: this.#now },
      budget,
      now,
    );
    const told = await tellOpened(tellIssue, projectId, known, links, budget);
    this.problems.push(...told.problems);
    this.#untold = told.problems.length;
    // Whatever dies before it is stored, the next look finds the same issues, and tells them by the same ids.
    if (changed || told.told > 0)
      await storeItems(table, this.#claimed, [{ item: await knownItem(projectId, told.known) }], budget);
    this.#issues = told.known;
    return measureBy(windows, (span) => countNew(told.known, span));
  }

  async #judgeTogether(
    due: readonly LoadedAlert[],
    standings: Standings,
    measureAll: (windows: readonly Wanted[]) => Promise<Measured[]>,
  ): Promise<Judged[]> {
    if (due.length === 0) return [];
    const { alerts } = standings;
    const windows = due.map(({ alert }) => ({ alert, end: windowEnd(alert, this.#now) }));
    const getStanding = ({ objectId, digest }: LoadedAlert) => alerts.get(objectId) ?? noStanding(digest);
    try {
      const measured = await measureAll(windows);
      return due.map((loaded, i): Judged => {
        const figures = measured[i] ?? { value: null, compared: null };
        const end = windows[i]?.end ?? 0;
        const reading = { value: figures.value, end };
        const decided = decide(loaded.alert, loaded.digest, getStanding(loaded), reading, this.#now);
        return { loaded, end, measured: figures, ...decided };
      });
    } catch (error) {
      // What is wrong with one of them is not to keep the others from being measured.
      if (!(error instanceof ServiceError) && due.length > 1) {
        return (
          await mapConcurrent(due, concurrency, (alert) =>
            this.#judgeTogether([alert], standings, measureAll),
          )
        ).flat();
      }
      this.problems.push(error);
      const problem =
        error instanceof ServiceError
          ? 'storage did not give what it measures in time'
          : 'something went wrong: the log of the function has it';
      return due.map((loaded, i) => ({
        loaded,
        end: windows[i]?.end ?? 0,
        measured: null,
        change: null,
        standing: { ...getStanding(loaded), problem },
      }));
    }
  }

  /** What changed of alerts that are as they were read: remembered ones may have been deleted since. */
  async #stillThere(judged: readonly Judged[], alerts: readonly LoadedAlert[]): Promise<Judged[]> {
    const changed = judged.filter(({ change }) => change !== null);
    if (changed.length === 0) return [];
    const fresh = await this.#watch.alerts.getAlerts(this.#claimed.projectId, this.#now / 1000, this.#budget);
    if (fresh === alerts) return changed;
    const there = new Set(
      fresh.flatMap(({ objectId, digest, alert }) => (alert.enabled ? [`${objectId}\n${digest}`] : [])),
    );
    return changed.filter(({ loaded: { objectId, digest } }) => there.has(`${objectId}\n${digest}`));
  }

  #toNotifications(changed: readonly Judged[]): Promise<Notification[]> {
    const { links } = this.#watch;
    return mapConcurrent(
      changed,
      concurrency,
      async ({ loaded, end, measured, change }): Promise<Notification> => {
        if (!change || !measured) throw new Error('there is nothing to tell of an alert that did not change');
        const message = toMessage(loaded, change, measured, {
          id: messageId(this.#claimed.projectId, loaded.objectId, change, end),
          contributors: await this.#contributors(loaded, end),
          link: windowLink(links, loaded, end),
          end,
          at: this.#now,
        });
        const { tell: targets } = loaded.alert;
        const sending = { status: 'waiting', tries: 0, problem: null, nextAt: 0 } as const;
        return { message, sendings: targets.map((target) => ({ target, ...sending })) };
      },
    );
  }

  async #contributors(loaded: LoadedAlert, end: Micros): Promise<readonly Contributor[]> {
    const { sources, links } = this.#watch;
    if (this.#issues && countsIssues(loaded.alert.metric))
      return newestIssues(this.#issues, toWindow(loaded.alert, end), loaded.projectId, links);
    const deadline = Math.min(Date.now() + contributorsMs, this.#budget.deadline - reserveMs);
    try {
      return await findContributors(sources, loaded, end, links, { ...this.#budget, deadline });
    } catch (error) {
      this.problems.push(error);
      return [];
    }
  }
}

const isSame = (one: Dispatch, other: Dispatch | undefined): boolean =>
  JSON.stringify(one) === JSON.stringify(other);

/** After how long what is known of alerts is stored although no state has changed, in milliseconds. */
const staleMs = 900_000;

const essence = ({ alerts }: Standings): string =>
  JSON.stringify([...alerts].map(([id, { value: _value, end: _end, ...rest }]) => [id, rest]));

/** Whether it is worth storing what is known of alerts: a value that changed is not, for a while. */
const differ = (before: Standings, next: Standings): boolean =>
  next.storedAt - before.storedAt >= staleMs || essence(before) !== essence(next);

/**
 * Looks at all alerts that are due, stores what it finds, and tells what there is to tell. Whatever
 * dies in between, the next look goes on from there, and nothing is told twice or lost.
 *
 * @throws ServiceError 503 when the register is not there in time
 */
export const lookAtAlerts = async (watch: Watch, budget: RequestBudget): Promise<Looked> => {
  const { table, now } = watch;
  const due = (await readRegister(table, budget)).filter((registered) => isDue(registered, now()));
  const all = await mapConcurrent(due, concurrency, async (seen): Promise<Looked> => {
    if (Date.now() + 2 * reserveMs > budget.deadline) return { looks: 0, undelivered: 0, problems: [] };
    try {
      const claimed = await claim(table, seen, now() + claimMs, budget);
      if (!claimed) return { looks: 0, undelivered: 0, problems: [] };
      const look = new ProjectLook(watch, claimed, budget);
      return { ...(await look.look()), problems: look.problems };
    } catch (error) {
      return { looks: 0, undelivered: 0, problems: [error] };
    }
  });
  return {
    looks: all.reduce((sum, { looks }) => sum + looks, 0),
    undelivered: all.reduce((sum, { undelivered }) => sum + undelivered, 0),
    problems: all.flatMap(({ problems }) => problems),
  };
};
