import { mapConcurrent, type RequestBudget, type Store } from '../../../../foundations/storage/index.ts';
import { type JsonObject, type ProjectId, qualifiedId } from '../../../../foundations/wire/index.ts';
import {
  type CallReport,
  type Place,
  placeOfThread,
  putFacts,
  readFacts,
  removeCalls,
  writeCalls,
} from '../../../records/calls/index.ts';
import { idFrom, type ProjectSpan, toMicros } from '../calls.ts';
import type { Rejection } from '../decode/spans.ts';
import { getEventName } from '../joining.ts';
import type { ProjectRecord } from '../projects.ts';
import { claudeEvents, isClaudeScope, operationsOfClaudeCode } from './claude-code/index.ts';
import { codexEvents, isCodexScope, isOfUse, operationsOfCodex } from './codex.ts';
import { Fact, factOfRecord, factOfSpan, inOrder } from './facts.ts';
import { hashParts, type Operation, toReports } from './operation.ts';

/*
 * What a coding agent says of one operation comes in several records and spans, and in several
 * requests, in any order. Each request puts what it says in the place of its trace, prompt or
 * session, reads what others said there, and writes the calls that all of it makes. So the calls
 * are the same whatever the order, and complete once the last request is done.
 */

/** The name of an agent's event, with the agent's before it. Claude Code has it in the body, too. */
const agentEvent = (record: ProjectRecord): string | undefined => {
  const { body, scope } = record;
  const isKnown = (name: string): boolean => claudeEvents.has(name) || codexEvents.has(name);
  const name = getEventName(record);
  const names = [
    ...(typeof body === 'string' ? [body] : []),
    name,
    ...(isClaudeScope(scope) ? [`claude_code.${name}`] : []),
  ];
  return names.find(isKnown);
};

/** Whether a record is one that a coding agent tells of what it does. */
export const isOfAgent = (record: ProjectRecord): boolean => agentEvent(record) !== undefined;

/** Whether a coding agent made a record, whatever it is about. */
export const isFromAgent = (record: ProjectRecord): boolean =>
  isClaudeScope(record.scope) ||
  [getEventName(record), record.body].some(
    (name) => typeof name === 'string' && /^(?:claude_code|codex)\.[\w.]+$/.test(name),
  );

/** Whose a span is, if it is a coding agent's. Codex's are left out. */
export const agentSpan = ({ span }: ProjectSpan): 'claude-code' | 'codex' | undefined => {
  if (isClaudeScope(span.scope)) return 'claude-code';
  return isCodexScope(span.scope) ? 'codex' : undefined;
};

/** What a request says in one place, and the places around that it may bear upon. */
interface Saying {
  readonly place: Place;
  readonly around: readonly Place[];
  readonly facts: JsonObject[];
}

/** The place of a fact, after the places before and after it where calls of its turn may be. */
const getPlaces = (fact: Fact): readonly [string, ...string[]] => {
  const isCodex = codexEvents.has(fact.name);
  if (!isCodex && fact.traceId !== undefined) return [fact.traceId];
  const text = fact.text('session.id') ?? fact.text('conversation.id');
  const session = (text && idFrom(text)) ?? 'unknown';
  const prompt = fact.text('prompt.id');
  if (!isCodex && prompt !== undefined) return [hashParts(session, hashParts(session, `agent ${prompt}`))];
  const at = (offset: number): string => placeOfThread(session, fact.endedAt, offset);
  return [at(0), at(-1), at(1)];
};

const toSayings = (
  sent: readonly { readonly projectId: ProjectId; readonly json: JsonObject }[],
): Saying[] => {
  const sayings = new Map<string, Saying>();
  for (const { projectId, json } of sent) {
    const [place, ...around] = getPlaces(new Fact(json));
    const key = qualifiedId(projectId, place);
    const saying = sayings.get(key) ?? {
      place: { projectId, place },
      around: around.map((neighbor) => ({ projectId, place: neighbor })),
      facts: [],
    };
    saying.facts.push(json);
    sayings.set(key, saying);
  }
  return [...sayings.values()];
};

const toOperations = (facts: readonly JsonObject[]): ReadonlyMap<string, Operation> => {
  const [codex = [], claude = []] = [true, false].map((isCodex) =>
    inOrder(facts).filter(({ name }) => codexEvents.has(name) === isCodex),
  );
  const operations = [
    ...(claude.length > 0 ? operationsOfClaudeCode(claude) : []),
    ...(codex.length > 0 ? operationsOfCodex(codex) : []),
  ];
  return new Map(operations.map((operation) => [operation.id, operation]));
};

/** The most times that calls are written while others say more of them. */
const maxRounds = 8;
const placeConcurrency = 4;

/** Says something in a place, and writes the calls that it makes or changes. */
const say = async (
  store: Store,
  { place, around, facts }: Saying,
  userId: string,
  budget: RequestBudget,
): Promise<number> => {
  const { projectId } = place;
  const { stored, tooLong } = await putFacts(store, place, facts, budget);
  const own = new Set(stored.map(({ digest }) => digest));
  const ownFacts = new Set(stored.flatMap((stored) => stored.facts).map((fact) => JSON.stringify(fact)));
  const read = async () =>
    (
      await mapConcurrent([place, ...around], 1 + around.length, (neighbor) =>
        readFacts(store, neighbor, budget),
      )
    ).flat();
  const reportsIn = (operations: ReadonlyMap<string, Operation>) =>
    new Map([...operations].map(([id, operation]) => [id, toReports(projectId, operation)] as const));

  let known = await read();
  let before = reportsIn(
    toOperations(known.flatMap((saying) => (own.has(saying.digest) ? [] : saying.facts))),
  );
  for (let round = 0; round < maxRounds; round++) {
    const operations = toOperations(known.flatMap((saying) => saying.facts));
    const after = reportsIn(operations);
    const changed = [...after].filter(
      ([id, reports]) =>
        // Others may be saying the same at this moment, so each writes what it has a part in.
        (round === 0 && operations.get(id)?.facts.some(({ key }) => ownFacts.has(key))) ||
        JSON.stringify(reports) !== JSON.stringify(before.get(id)),
    );
    const reports = changed.flatMap(([, callReports]): readonly CallReport[] => callReports);
    if (reports.length > 0) await writeCalls(store, reports, userId, budget);
    const gone = [...before.keys()].filter((id) => !after.has(id));
    if (gone.length > 0) await removeCalls(store, projectId, gone, budget);
    const seen = new Set(known.map(({ digest }) => digest));
    const later = await read();
    // Who wrote last has seen what all of them said.
    if (later.every(({ digest }) => seen.has(digest))) break;
    known = later;
    before = after;
  }
  return tooLong;
};

/**
 * Stores what coding agents say of their operations, and writes the calls that it makes together
 * with what was said before.
 *
 * @param userId the user of the reporting key
 * @returns what could not be stored
 * @throws ServiceError 413 if the calls would be too large; 503 when storage does not accept it in
 * time
 */
export const storeFacts = async (
  store: Store,
  sent: { readonly records?: readonly ProjectRecord[]; readonly spans?: readonly ProjectSpan[] },
  userId: string,
  budget: RequestBudget,
): Promise<Rejection[]> => {
  const facts = [
    ...(sent.records ?? []).flatMap((record) => {
      const event = agentEvent(record);
      if (event === undefined) return [];
      const json = factOfRecord(record, event, toMicros(record.timeUnixNano));
      if (codexEvents.has(event) && !isOfUse(new Fact(json))) return [];
      return [{ projectId: record.projectId, json }];
    }),
    ...(sent.spans ?? []).map(({ projectId, span }) => ({ projectId, json: factOfSpan(span) })),
  ];
  const tooLong = await mapConcurrent(toSayings(facts), placeConcurrency, (saying) =>
    say(store, saying, userId, budget),
  );
  const count = tooLong.reduce((sum, bytes) => sum + bytes, 0);
  return count === 0 ? [] : [{ count, reason: 'what it says is longer than 380 KB packed' }];
};

/** Why spans of an agent are left out. */
export const spansLeftOut = (count: number): Rejection[] =>
  count === 0
    ? []
    : [
        {
          count,
          reason:
            'technical spans of Codex are left out, since its log records say what it does: set exporter under [otel] in ~/.codex/config.toml, and no trace_exporter',
        },
      ];
