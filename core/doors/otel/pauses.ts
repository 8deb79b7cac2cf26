import { shortDigest } from '../../../foundations/encoding/index.ts';
import type { Item } from '../../../foundations/storage/index.ts';
import {
  mapConcurrent,
  type RequestBudget,
  readRange,
  type Store,
} from '../../../foundations/storage/index.ts';
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type Micros,
  nonEmptyString,
  type ProjectId,
  qualifiedId,
} from '../../../foundations/wire/index.ts';
import {
  type CallName,
  type CallReport,
  fromItem,
  putRecords,
  readCall,
  readRecords,
  traceRange,
  writeCalls,
} from '../../records/calls/index.ts';
import { type Reported, toReported, toReports } from './stored.ts';
import { get } from './values.ts';

/*
 * A run that asks a person ends, and another one goes on when they have answered: two requests, perhaps
 * days apart and in either order. Each notes its questions and answers at one place, the thread, before
 * it looks there, so whoever writes last has seen both. Then the call that asked says how long it waited,
 * and the run that went on belongs to the turn before.
 */

/** A question to a person, or an answer by which a run goes on, as it is noted. */
export interface Pause {
  readonly kind: 'wait' | 'resume';
  readonly projectId: ProjectId;
  /** Where the two meet: what is unique of their names, else the thread, or the trace without one. A digest. */
  readonly place: string;
  readonly id: string;
  readonly traceId: string;
  readonly parentId: string | null;
  readonly opName: string;
  readonly startedAt: Micros;
  readonly endedAt: Micros;
  /** Whether the call failed itself. */
  readonly hasFailed: boolean;
  /** Digests of the names of the questions. An answer without any is to whatever was asked. */
  readonly keys: string[];
}

const getOtelField = ({ attributes }: Reported['start'], name: Pause['kind']): unknown =>
  get(get(attributes, 'otel'), name);

/** The most questions that a call asks at once. Further ones are not told apart. */
const maxKeys = 100;

const getKeys = (value: unknown): string[] => {
  const keys = get(value, 'keys');
  return Array.isArray(keys) ? keys.slice(0, maxKeys).flatMap((key) => nonEmptyString(key) ?? []) : [];
};

/** Starts with their ends, of reports where each end follows its start. */
const pairReports = (reports: readonly CallReport[]): Reported[] =>
  reports.flatMap((report, at) => {
    const next = reports[at + 1];
    return report.kind === 'start'
      ? [{ start: report.start, end: next?.kind === 'end' ? next.end : undefined }]
      : [];
  });

/** What clients call questions and threads may be of any length, and may be what must not be stored. */
const hashName = (name: string): string => shortDigest(name).toString('hex');

const microsPerMs = 1000;

type Ended = NonNullable<Reported['end']>;

/** When a call asked. Its end is that of the wait once somebody has answered. */
const askedAt = ({ endedAt, summary }: Ended): Micros => {
  const waitedMs = summary.waited_ms;
  return endedAt - (typeof waitedMs === 'number' ? waitedMs * microsPerMs : 0);
};

/** The questions and answers among the reports of spans. */
export const pausesIn = (reports: readonly CallReport[]): Pause[] =>
  pairReports(reports).flatMap(({ start, end }) =>
    (['wait', 'resume'] as const).flatMap((kind) => {
      const found = getOtelField(start, kind);
      const { projectId, id, threadId, traceId, parentId, opName, startedAt } = start;
      if (found === undefined || id === null || traceId === null || !end) return [];
      const keys = getKeys(found).map(hashName);
      const places = get(found, 'unique') === true ? keys : [hashName(threadId ?? traceId)];
      return places.map((place) => ({
        kind,
        projectId,
        place,
        id,
        traceId,
        parentId,
        opName,
        startedAt,
        endedAt: askedAt(end),
        hasFailed: end.exception !== null,
        keys,
      }));
    }),
  );

/** A question with the first answer to it, if there is one. */
interface Link {
  readonly wait: Pause;
  readonly resume: Pause | undefined;
}

const isAnswer = (resume: Pause, wait: Pause): boolean =>
  resume.startedAt >= wait.endedAt &&
  resume.id !== wait.id &&
  (resume.keys.length === 0 || sharesKey(resume, wait));

/** A question that was answered. */
interface Answered extends Link {
  readonly resume: Pause;
}

/** What the questions and answers of one place make of each other. */
interface Links {
  readonly links: readonly Link[];
  /** Calls that only let a question of a call below them pass. */
  readonly passedOn: readonly Pause[];
}

const sharesKey = (a: Pause, b: Pause): boolean => a.keys.some((key) => b.keys.includes(key));

/**
 * Whether a call only lets the question of another one in it pass: each call around the one that asked
 * ended by the same exception, or is suspended as well.
 */
const passes = (wait: Pause, waits: readonly Pause[]): boolean =>
  waits.some(
    (other) =>
      other.id !== wait.id &&
      other.traceId === wait.traceId &&
      sharesKey(wait, other) &&
      other.startedAt >= wait.startedAt &&
      other.endedAt <= wait.endedAt &&
      // Of two that took the same time, the parent is the outer one.
      (other.startedAt > wait.startedAt || other.endedAt < wait.endedAt || wait.parentId !== other.id),
  );

/** @param pauses in order of their times, as they are read */
const toLinks = (pauses: readonly Pause[]): Links => {
  const waits = pauses.filter(({ kind }) => kind === 'wait');
  const resumes = pauses.filter(({ kind }) => kind === 'resume');
  const openWaits = waits.filter((wait) => !passes(wait, waits));
  return {
    links: openWaits.map((wait) => ({ wait, resume: resumes.find((resume) => isAnswer(resume, wait)) })),
    passedOn: waits.filter((wait) => !openWaits.includes(wait)),
  };
};

/** Calls of one project, as they are reported or stored, and what becomes of them. */
class Calls {
  readonly #read: (id: string) => Promise<Reported | undefined>;
  readonly #calls = new Map<string, Promise<Reported | undefined>>();
  readonly changed = new Map<string, Reported>();

  constructor(read: (id: string) => Promise<Reported | undefined>) {
    this.#read = read;
  }

  get(id: string): Promise<Reported | undefined> {
    const known = this.#calls.get(id) ?? this.#read(id);
    this.#calls.set(id, known);
    return known;
  }

  /** Gives fields of a call other values, unless it has them. */
  change(call: Reported, { start, end }: Change): void {
    const { id } = call.start;
    const differs = (before: object | undefined, values: object | undefined): boolean =>
      before !== undefined &&
      Object.entries(values ?? {}).some(
        ([name, value]) => JSON.stringify(get(before, name)) !== JSON.stringify(value),
      );
    if (id === null || (!differs(call.start, start) && !differs(call.end, end))) return;
    const made = { start: { ...call.start, ...start }, end: call.end && { ...call.end, ...end } };
    this.changed.set(id, made);
    this.#calls.set(id, Promise.resolve(made));
  }
}

interface Change {
  readonly start?: Partial<Reported['start']>;
  readonly end?: Partial<Ended>;
}

const withoutWait = (summary: JsonObject): JsonObject => {
  const { waiting: _, waited_ms: __, ...others } = summary;
  return others;
};

/** How long a call waited: from its question to the answer. The call has ended then. */
const waited = (end: Ended, { wait, resume }: Answered): Partial<Ended> => {
  const ms = Math.max(0, Math.round((resume.startedAt - wait.endedAt) / microsPerMs));
  return {
    // Not later, even if a later answer was known before this one.
    endedAt: resume.startedAt,
    summary: { ...withoutWait(end.summary), waited_ms: ms },
  };
};

/** The most calls that are passed on the way up from a question to its turn. */
const maxLevels = 64;

/** The turn that a question was asked in. */
const findTurn = async (
  calls: Calls,
  { wait }: Link,
  links: readonly Link[],
  met: ReadonlySet<string> = new Set(),
): Promise<string | undefined> => {
  let call = await calls.get(wait.id);
  let turn = call?.start.turnId ?? null;
  for (let level = 0; call && turn === null && level < maxLevels; level++) {
    const { parentId, threadId } = call.start;
    const parent = parentId === null ? undefined : await calls.get(parentId);
    if (!parent || parent.start.threadId !== threadId) break;
    call = parent;
    turn = call.start.turnId;
  }
  if (turn === null) return undefined;
  // A run that went on itself belongs to the turn of what it went on with.
  const before = links.find(({ resume }) => resume?.id === turn);
  if (!before || met.has(turn)) return turn;
  return (await findTurn(calls, before, links, new Set([...met, turn]))) ?? turn;
};

/** Whether a turn had ended before a run went on, so that it does not know the answer itself. */
const isUnanswered = ({ endedAt, summary }: Ended, { startedAt }: Reported['start']): boolean =>
  'interrupted_output' in summary || endedAt <= startedAt;

/** A turn ends with the answer of the run that went on with it. */
const answered = (turn: Ended, resumed: Ended): Partial<Ended> => {
  const { summary, output, exception } = turn;
  return {
    endedAt: Math.max(turn.endedAt, resumed.endedAt),
    output: resumed.output,
    exception: exception ?? resumed.exception,
    // What the turn said itself stays, however often it is answered.
    summary: { interrupted_output: output, ...summary },
  };
};

/** What a run ended with itself, which was answered before anybody knew that it belongs to another turn. */
const unanswered = ({ summary, output, exception }: Ended, resume: Pause): Partial<Ended> => {
  const { interrupted_output: own = output, ...others } = summary;
  return {
    endedAt: resume.endedAt,
    output: own,
    exception: resume.hasFailed ? exception : null,
    summary: others,
  };
};

/** What the person said to one question. */
const getAnswerTo = (resume: Reported, { keys }: Pause): JsonValue | undefined => {
  const answer = get(getOtelField(resume.start, 'resume'), 'said') as JsonValue | undefined;
  if (getKeys(getOtelField(resume.start, 'resume')).length === 0 || !isJsonObject(answer)) return answer;
  return Object.entries(answer).find(([key]) => keys.includes(hashName(key)))?.[1];
};

/**
 * The turns of a run that goes on, before it belongs to another: itself, and a call around it that was
 * asked nothing itself. Or the run before it, if nobody knew yet that this one goes on with another.
 */
const ownTurns = async (calls: Calls, { start }: Reported): Promise<readonly (string | null)[]> => {
  if (start.turnId === null || start.turnId === start.id) return [start.id];
  const turn = await calls.get(start.turnId);
  if (!turn) return [start.id];
  const isAround = turn.start.turnId === turn.start.id && Object.keys(turn.start.inputs).length === 0;
  return turn.start.traceId !== start.traceId || isAround ? [start.id, start.turnId] : [start.id];
};

/** What is known of a call of a trace without its payload. */
interface Member {
  readonly id: string;
  readonly parentId: string | null;
  readonly opName: string;
  readonly turnId: string | null;
  readonly threadId: string | null;
  readonly startedAt: Micros;
}

/** Calls below one, without those that have another one of their name below them. */
const innermost = (members: readonly Member[], top: string): Member[] => {
  const byId = new Map(members.map((member) => [member.id, member]));
  const outer = new Set<Member>();
  for (const member of members) {
    let at = byId.get(member.parentId ?? '');
    for (let level = 0; at && level < maxLevels; level++) {
      if (at.opName === member.opName) outer.add(at);
      at = byId.get(at.parentId ?? '');
    }
  }
  return members.filter((member) => member.id !== top && !outer.has(member));
};

/** Gives calls what questions and answers say of them. */
const relate = async (
  calls: Calls,
  { links, passedOn }: Links,
  readMembers: (traceId: string) => Promise<readonly Member[]>,
): Promise<void> => {
  for (const { id } of passedOn) {
    const call = await calls.get(id);
    if (call?.end) calls.change(call, { end: { summary: withoutWait(call.end.summary) } });
  }
  const resumed = links.flatMap((link) => (link.resume ? [{ ...link, resume: link.resume }] : []));
  const turns = new Map<string, string>();
  for (const link of resumed) {
    const turn = await findTurn(calls, link, links);
    const waitingCall = await calls.get(link.wait.id);
    const resume = await calls.get(link.resume.id);
    const isOneThread = waitingCall?.start.threadId === resume?.start.threadId;
    if (turn === undefined || turn === link.resume.id || !isOneThread) continue;
    turns.set(link.resume.id, turn);
    if (resume?.end && 'interrupted_output' in resume.end.summary)
      calls.change(resume, { end: unanswered(resume.end, link.resume) });
  }
  for (const link of resumed) {
    const call = await calls.get(link.wait.id);
    if (call?.end) calls.change(call, { end: waited(call.end, link) });
  }
  for (const [resumeId, resumedWaits] of Map.groupBy(resumed, ({ resume }) => resume.id)) {
    const resume = await calls.get(resumeId);
    if (!resume) continue;
    const members = await readMembers(resume.start.traceId ?? '');
    const turnId = turns.get(resumeId);
    const former = await ownTurns(calls, resume);
    for (const { id, turnId: own, threadId } of members) {
      const isOwn = former.includes(own) || (own === null && threadId === resume.start.threadId);
      const member = turnId !== undefined && threadId !== null && isOwn ? await calls.get(id) : undefined;
      if (member) calls.change(member, { start: { turnId: turnId ?? null } });
    }
    // The node that asked runs again, before any others of its name.
    for (const [opName, waits] of Map.groupBy(resumedWaits, ({ wait }) => wait.opName)) {
      const again = innermost(members, resumeId)
        .filter((member) => member.opName === opName && member.startedAt >= resume.start.startedAt)
        .toSorted((a, b) => a.startedAt - b.startedAt);
      for (const [at, { wait }] of waits.entries()) {
        const answer = getAnswerTo(resume, wait);
        const node = answer === undefined ? undefined : await calls.get(again[at]?.id ?? '');
        if (node) calls.change(node, { start: { inputs: { ...node.start.inputs, resume: answer ?? null } } });
      }
    }
  }
  const answers = resumed.toSorted((a, b) => a.resume.startedAt - b.resume.startedAt);
  for (const [turnId, turnAnswers] of Map.groupBy(answers, ({ resume }) => turns.get(resume.id))) {
    const turn = turnId === undefined ? undefined : await calls.get(turnId);
    const last = await calls.get(turnAnswers.at(-1)?.resume.id ?? '');
    if (turn?.end && last?.end && isUnanswered(turn.end, last.start))
      calls.change(turn, { end: answered(turn.end, last.end) });
  }
};

/** The name under which pauses of a place are noted. No call made of a span has it. */
const toNoteName = ({ projectId, place }: Pick<Pause, 'projectId' | 'place'>) => ({
  projectId,
  id: `waits of ${place}`,
});

const timeDigits = 20;

const readPauses = async (
  store: Store,
  places: readonly Pause[],
  budget: RequestBudget,
): Promise<readonly (readonly Pause[])[]> =>
  mapConcurrent(places, concurrency, async (place) =>
    (await readRecords(store, toNoteName(place), budget)).map((record) => record as unknown as Pause),
  );

const concurrency = 8;

const notePauses = async (store: Store, pauses: readonly Pause[], budget: RequestBudget): Promise<void> => {
  const notes = pauses.map((pause) => ({
    ...toNoteName(pause),
    time: String(pause.startedAt).padStart(timeDigits, '0'),
    record: { ...pause },
  }));
  await putRecords(store, notes, budget);
};

/** One pause of each place. */
const uniquePlaces = (pauses: readonly Pause[]): Pause[] => [
  ...new Map(pauses.map((pause) => [qualifiedId(pause.projectId, pause.place), pause])).values(),
];

/**
 * Notes the questions and answers of a request, and gives its own calls what those that came before say
 * of them. So what is sent again is stored as it was.
 *
 * @param pauses those of the reports
 */
export const withEarlierPauses = async (
  store: Store,
  reports: readonly CallReport[],
  pauses: readonly Pause[],
  budget: RequestBudget,
): Promise<readonly CallReport[]> => {
  if (pauses.length === 0) return reports;
  await notePauses(store, pauses, budget);
  const places = uniquePlaces(pauses);
  const own = new Map(
    pairReports(reports).map((call) => [qualifiedId(call.start.projectId, call.start.id ?? ''), call]),
  );
  const changed = new Map<string, Reported>();
  for (const [at, known] of (await readPauses(store, places, budget)).entries()) {
    const { projectId } = places[at] ?? {};
    if (projectId === undefined) continue;
    const calls = new Calls(
      async (id) => own.get(qualifiedId(projectId, id)) ?? stored(store, projectId, id, budget),
    );
    await relate(calls, toLinks(known), async (traceId) =>
      [...own.values()].flatMap(({ start }) =>
        start.projectId === projectId && start.traceId === traceId ? [toMember(start.id ?? '', start)] : [],
      ),
    );
    for (const [id, call] of calls.changed) {
      const name = qualifiedId(projectId, id);
      if (own.has(name)) {
        own.set(name, call);
        changed.set(name, call);
      }
    }
  }
  return reports.flatMap((report) => {
    const { projectId, id } = report.kind === 'start' ? report.start : report.end;
    const call = changed.get(qualifiedId(projectId, id ?? ''));
    if (!call) return [report];
    return toReports(call).filter(({ kind }) => kind === report.kind);
  });
};

const toMember = (
  id: string,
  { parentId, opName, turnId, threadId, startedAt }: Omit<Member, 'id'>,
): Member => ({
  id,
  parentId,
  opName,
  turnId,
  threadId,
  startedAt,
});

const stored = async (
  store: Store,
  projectId: ProjectId,
  id: string,
  budget: RequestBudget,
): Promise<(Reported & { readonly userId: string }) | undefined> => {
  const call = id === '' ? null : await readCall(store, projectId, id, budget);
  return call ? { ...toReported(call), userId: call.header.start.userId } : undefined;
};

/** The calls of a trace, as far as its index is up to date. */
const readMembers = async (
  store: Store,
  projectId: ProjectId,
  traceId: string,
  budget: RequestBudget,
): Promise<Member[]> => {
  const options = { toRow: (item: Item) => fromItem(projectId, item) };
  const rows = await Array.fromAsync(
    readRange(store.table, traceRange(projectId, traceId, {}), options, budget),
  );
  return rows.flat().flatMap(({ id, start }) => (start ? [toMember(id, start)] : []));
};

/** Notes the questions and answers of calls that came to another thread or turn. */
const noteMoved = async (
  store: Store,
  moved: readonly CallName[],
  budget: RequestBudget,
): Promise<readonly Pause[]> => {
  const calls = await mapConcurrent(moved, concurrency, ({ projectId, id }) =>
    stored(store, projectId, id, budget),
  );
  const pauses = pausesIn(calls.flatMap((call) => (call ? toReports(call) : [])));
  const known = await readPauses(store, pauses, budget);
  const isNoted = ({ id, kind }: Pause, at: number): boolean =>
    known[at]?.some((note) => note.id === id && note.kind === kind) ?? false;
  await notePauses(
    store,
    pauses.filter((pause, at) => !isNoted(pause, at)),
    budget,
  );
  return pauses;
};

/**
 * Gives stored calls what questions and answers say of them, once a request has written its own.
 *
 * @param pauses those of the request
 * @param moved calls with others, which the request has brought to another thread or turn
 */
export const settlePauses = async (
  store: Store,
  pauses: readonly Pause[],
  moved: readonly CallName[],
  budget: RequestBudget,
): Promise<void> => {
  const places = uniquePlaces([...pauses, ...(await noteMoved(store, moved, budget))]);
  for (const [at, known] of (await readPauses(store, places, budget)).entries()) {
    const { projectId } = places[at] ?? {};
    if (projectId === undefined) continue;
    const users = new Map<string, string>();
    const calls = new Calls(async (id) => {
      const call = await stored(store, projectId, id, budget);
      if (call) users.set(id, call.userId);
      return call;
    });
    await relate(calls, toLinks(known), (traceId) => readMembers(store, projectId, traceId, budget));
    await mapConcurrent([...calls.changed], concurrency, ([id, call]) =>
      // A turn that questions and answers have changed is not that of the trace alone.
      writeCalls(store, toReports(call), users.get(id) ?? '', budget, { isMet: () => true }),
    );
  }
};
