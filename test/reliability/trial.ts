import pMap from 'p-map';
import { expect, vi } from 'vitest';
import type { Scenario, Use } from '../support/endpoints/index.ts';
import type { Fault } from '../support/faults/faults.ts';
import { type FaultPlan, faultPlan } from '../support/faults/faulty-client.ts';
import { patienceMs } from '../support/run/pace.ts';
import type { Answer, InProcess, Sender, Sent } from '../support/service/in-process.ts';
import { type Injected, unreached } from './injected.ts';

/** What is seen of a project: the records of each view, as text. */
export type Seen = readonly (readonly string[])[];

/** A scenario as it goes without faults. */
export interface Clean {
  readonly scenario: Scenario;
  readonly answer: Answer;
  /** The storage requests that it made, in order. */
  readonly operations: readonly string[];
  readonly before: Seen;
  readonly after: Seen;
  /** The project of it all. */
  readonly project: string;
  readonly request: Sent;
}

let projects = 0;

/** What differs from one run to the next: the project, and what the server makes of its own. */
const masked = (text: string, project: string): string =>
  text
    .replaceAll(project, 'acme/masked')
    .replaceAll(encodeURIComponent(project), 'acme%2Fmasked')
    .replaceAll(/svc_[0-9a-z]{16}_[0-9a-f]{64}/g, 'key')
    .replaceAll(/"key_id":"[0-9a-z]{16}"/g, '"key_id":"id"')
    .replaceAll(/end-of-data-[0-9a-f]{16}/g, 'end-of-data')
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, 'uuid')
    // Tools answer JSON within JSON, too.
    .replaceAll(/(\\?)"20(?!26-10-01)[^"]{24}Z\1"/g, '"time"')
    .replaceAll(/"(latency_ms|created|first_byte_ms|first_token_ms|ms)":[\d.]+/g, '"$1":0');

/**
 * The records of an answer: items of its list, or the whole of it; else its lines, of JSON or not.
 */
const parseRecords = (text: string): string[] => {
  try {
    const value = JSON.parse(text) as object;
    const list: unknown[] = [value, ...Object.values(value)].find(Array.isArray) ?? [value];
    return list.map((record) => JSON.stringify(record)).sort();
  } catch {
    return text.split(/\r?\n/).filter(Boolean).sort();
  }
};

/**
 * What the views of a scenario show of a project. One is looked at after the other: each of several
 * at once would start a function of its own.
 */
export const look = (service: Sender, { views }: Scenario, project: string): Promise<Seen> =>
  pMap(
    views?.(project) ?? [],
    async (view) => {
      const answer = await service.send(view);
      if (view.mayBeAbsent && answer.status === 404) return [];
      expect(answer).toMatchObject({ status: 200, complete: true });
      return parseRecords(masked(answer.text, project));
    },
    { concurrency: 1 },
  );

/** Sends what comes before a scenario, into a project of its own. */
export const prepare = async (service: Sender, scenario: Use) => {
  const project = `acme/trial-${projects++}`;
  const answers: Answer[] = [];
  for (const sent of scenario.before?.(project) ?? []) {
    const answer = await service.send(sent);
    expect(answer, answer.text).toMatchObject({ status: 200, complete: true });
    answers.push(answer);
  }
  return { project, request: scenario.request(project, answers) };
};

/** Runs a scenario without faults. */
export const runClean = async (service: InProcess, scenario: Scenario): Promise<Clean> => {
  const { project, request } = await prepare(service, scenario);
  const before = await look(service, scenario, project);
  const plan = faultPlan();
  const answer = await service.send(request, { plan });
  expect(answer, answer.text).toMatchObject({ status: 200, complete: true });
  const after = await look(service, scenario, project);
  return { scenario, answer, operations: plan.operations, before, after, project, request };
};

/** Faults after which the same request succeeds by itself. */
const passing: readonly Fault[] = ['throttle', 'hang', 'down', 'error', 'reset', 'half'];

/**
 * How many storage requests in a row a fault is done to that does not last. What the store never
 * had is refused once more than the SDK tries by itself.
 */
const getLength = (fault: Fault): number => (unreached.includes(fault) ? 4 : 1);

/** A function's time with which a lasting fault is soon given up, in milliseconds. */
export const shortMs = 1300;

/** The faults of a request as they are injected, and the operation that suffered the first. */
const injecting = ({ fault, operation, nth, lasting }: Injected) => {
  let seen = 0;
  let begun = Number.POSITIVE_INFINITY;
  const plan = faultPlan((number, asked) => {
    if (asked === operation && seen++ === nth) begun = Math.min(begun, number);
    const until = lasting ? Number.POSITIVE_INFINITY : begun + getLength(fault);
    return number >= begun && number < until ? fault : 'none';
  });
  return { plan, isInjected: () => begun < Number.POSITIVE_INFINITY };
};

/**
 * Runs a scenario with a fault. Fails where it does not keep the promise.
 *
 * @param timeMs the function's time if the fault lasts, in milliseconds
 * @returns whether it made the storage request that should suffer the fault
 */
export const runFaulty = async (
  service: InProcess,
  clean: Clean,
  injected: Injected,
  timeMs = shortMs,
): Promise<boolean> => {
  const { scenario } = clean;
  const { fault, lasting } = injected;
  const changes = scenario.views !== undefined;
  const { project, request } = changes ? await prepare(service, scenario) : clean;
  const { plan, isInjected } = injecting(injected);
  const isShort = lasting && passing.includes(fault);
  const answer = await service.send(request, { plan, ...(isShort && { timeMs }) });
  await expectQuiet(plan);
  try {
    expectDocumented(clean, injected, answer, project);
  } catch (error) {
    throw new Error(`${(error as Error).message}\n${service.getLog(answer).slice(0, 2000)}`);
  }
  if (!changes) return isInjected();
  const whole = answer.status === 200 && answer.complete && !scenario.unharmed && isDone(answer.text);
  const seen = await look(service, scenario, project);
  if (whole) expectSame(seen, clean.after);
  else expectNothingHalf(clean, seen);
  if (whole || scenario.unharmed) return isInjected();
  const again = await service.send(request);
  expect(again, `again: ${again.text}`).toMatchObject({ status: 200, complete: true });
  expectSame(await look(service, scenario, project), clean.after);
  return isInjected();
};

/** Whether all is done. An answer may say that the same request goes on with the rest. */
const isDone = (text: string): boolean => !text.startsWith('{"done":false');

/** What is seen is what should be. The message has the records that differ: those of failures have no diff. */
const expectSame = (seen: Seen, expected: Seen): void => {
  const less = (a: Seen, b: Seen): string[] =>
    a.flatMap((records, i) => records.filter((record) => !b[i]?.includes(record)));
  const differing = { lacking: less(expected, seen), beside: less(seen, expected) };
  expect(seen, JSON.stringify(differing).slice(0, 4000)).toEqual(expected);
};

/**
 * Nothing is written behind an answer, and soon after nothing is read any more: what was under way
 * is broken off.
 */
const expectQuiet = async (plan: FaultPlan): Promise<void> => {
  // Nobody waits for the note of a project, which is an UpdateItem of its own.
  const mayFollow = (operation: string) => /^(Query|BatchGetItem|GetObject|UpdateItem)$/.test(operation);
  expect(plan.underWay.filter((operation) => !mayFollow(operation))).toEqual([]);
  // Not by `expect.poll`, which does not know its test among concurrent ones.
  await vi.waitFor(() => expect(plan.underWay).toEqual([]), { interval: 5, timeout: patienceMs });
};

/**
 * The answer is the whole one, or a documented failure, or breaks off within what the whole one
 * has.
 */
const expectDocumented = (clean: Clean, injected: Injected, answer: Answer, project: string): void => {
  const { scenario } = clean;
  const text = masked(answer.text, project);
  const whole = masked(clean.answer.text, clean.project);
  if (answer.status === 200 && answer.complete) {
    expectWhole(clean, injected, text, whole);
    return;
  }
  const heals = passing.includes(injected.fault) && !injected.lasting;
  expect(heals || scenario.unharmed, `should be healed: ${answer.status} ${answer.text}`).toBeFalsy();
  if (answer.status === 200) {
    expect(scenario.views, 'a write that breaks off').toBeUndefined();
    expect(whole.startsWith(text)).toBe(true);
    return;
  }
  const throttled = passing.includes(injected.fault);
  expect(answer.status, answer.text).toBe(throttled ? 503 : 500);
  expect(answer.headers['retry-after']).toBe(throttled ? '1' : undefined);
  expect(answer.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
  const type = throttled ? 'storage_unavailable' : 'internal_error';
  expect(JSON.parse(answer.text)).toEqual(
    // OTLP has errors of a shape of its own: 14 is UNAVAILABLE, 13 INTERNAL.
    clean.request.path.startsWith('/otel/')
      ? { code: throttled ? 14 : 13, message: expect.any(String) }
      : clean.request.path === '/mcp'
        ? expect.objectContaining({ error: expect.objectContaining({ code: -32_603 }) })
        : { detail: [{ loc: [expect.any(String)], msg: expect.any(String), type }] },
  );
  expect(answer.text).not.toMatch(/made by the test|test-/);
};

const expectWhole = (
  { scenario, request }: Clean,
  { fault }: Injected,
  text: string,
  whole: string,
): void => {
  // How many there are of what is there, and replies of tools, which count and cut.
  if (fault === 'missing' && ['/calls/query_stats', '/mcp'].includes(request.path)) return;
  if (fault === 'missing') {
    // A call whose payload is gone has been deleted, as far as a reader can tell: it is left out,
    // and all others are whole.
    const known = new Set([...parseRecords(whole), '{"call":null}']);
    for (const record of parseRecords(text)) expect(known.has(record), record.slice(0, 300)).toBe(true);
    return;
  }
  if (!scenario.unharmed && isDone(text)) expect(text).toBe(whole);
};

/**
 * What is seen is of before or of after, record by record, nothing twice, and nothing gone that
 * stays.
 */
export const expectNothingHalf = (
  { scenario, before, after }: Pick<Clean, 'scenario' | 'before' | 'after'>,
  seen: Seen,
): void => {
  for (const [i, records] of seen.entries()) {
    const old = before[i] ?? [];
    const made = after[i] ?? [];
    if (scenario.atomic) expect([old, made]).toContainEqual(records);
    expect(new Set(records).size).toBe(records.length);
    for (const record of records)
      expect(old.includes(record) || made.includes(record), `half: ${record.slice(0, 600)}`).toBe(true);
    const stays = old.filter((record) => made.includes(record));
    expect(records).toEqual(expect.arrayContaining(stays));
  }
};
