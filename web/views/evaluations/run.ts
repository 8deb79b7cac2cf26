import { createStore, type StoreApi } from 'zustand';
import { toVerdictType } from '../../../api/shared/evaluators.ts';
import { type CallRow, getDuration, getStatus } from '../../api/calls.ts';
import type { Client } from '../../api/client.ts';
import type { CallsQuery, Operation, Request } from '../../api/contract.ts';
import { errorText, RequestFailed } from '../../api/http.ts';
import type { Row } from '../../calls/datasets/rows.ts';
import { getTableDigest, readTable } from '../../calls/datasets/table.ts';
import { type Evaluator, parseEvaluator, type Verdict, verdictsIn } from '../../calls/evaluators.ts';
import { isObject, toChunks, valueAt } from '../../data/values.ts';
import {
  answerIn,
  exactName,
  isExact,
  newTraceId,
  type Plan,
  type PromptVersion,
  parsePlan,
  planText,
  spans,
  toAttributes,
  toCallId,
  toChat,
} from './plan.ts';
import { scoresIn } from './scores.ts';

/*
 * Runs evaluations of prompts, in the format of clients' runners (docs/evaluations.md). All that is known of a run
 * is in the calls that it has reported and in those that the service has recorded: whoever continues it reads
 * them, and asks no model for what was answered.
 */

type Report = Request<'/call/upsert_batch'>['batch'][number];
type Start = Extract<Report, { mode: 'start' }>['req']['start'];
type End = Extract<Report, { mode: 'end' }>['req']['end'];

/** How many models are asked at once. A browser has six connections to a host that speaks HTTP/1.1. */
const parallel = 5;

/** For how long a model may answer, in seconds. After that, nothing that was asked for is still to come. */
const answerSeconds = 300;
/** How long the service may take to record an answer, in ms. */
const recordingMs = 15_000;

/** How often something is tried that may pass, and the pauses between, in ms: each is twice the one before. */
const tries = 5;
const firstPauseMs = 1000;
/** The longest that a model may ask to wait, in ms. A run that has to wait longer pauses. */
const longestWaitMs = 60_000;
/** So many rows that fail one after the other pause a run: the rest would probably fail, too. */
const failuresInRow = 5;

/** How often verdicts are looked for, and asked for again, in ms. */
const lookMs = 1000;
const askAgainMs = 30_000;
/** Verdicts are looked for on so many calls at once, which may have other feedback of the type, too. */
const callsAtOnce = 50;
const maxRecords = 10_000;

/** What became of an evaluation so far. */
export interface Part {
  readonly id: string;
  readonly title: string;
  readonly dataset: string;
  /** How many rows there are, are done, wait for verdicts, and have failed. */
  readonly rows: number;
  readonly done: number;
  readonly judging: number;
  readonly failed: number;
  /** The mean of each score over the rows that are done. */
  readonly means: ReadonlyMap<string, number>;
  /** What a row failed with last. */
  readonly failure: string | undefined;
}

export interface RunState {
  readonly phase: 'reading' | 'running' | 'stopping' | 'stopped' | 'done';
  readonly parts: readonly Part[];
  /** Why it does not go on; undefined if somebody stopped it, or nobody has started it. */
  readonly reason: string | undefined;
}

/** Whether something is on its way. */
export const isBusy = ({ phase }: Pick<RunState, 'phase'>): boolean =>
  phase === 'reading' || phase === 'running' || phase === 'stopping';

/** Why a run pauses. What it was at is found again by its calls. */
class Pause extends Error {
  override readonly name = 'Pause';
  /** Whether a request to the model was refused, so that no answer is still to come. */
  readonly isRefused: boolean;

  constructor(message: string, isRefused = false) {
    super(message);
    this.isRefused = isRefused;
  }
}

/** An evaluator that scores a run. */
interface Scorer {
  readonly ref: string;
  readonly evaluator: Evaluator;
}

/** A row on its way. */
interface Item {
  readonly of: Evaluated;
  readonly at: number;
  readonly row: Row;
  /** What the model answered, whole. */
  answer?: { readonly completion: unknown; readonly seconds: number } | undefined;
  /** Why there is no answer. */
  failure?: string | undefined;
  /** When the model was asked, in ms since 1970, if nobody knows what came of it; 0 if it was refused. */
  askedAt?: number | undefined;
  /** How often the model was asked. */
  tries: number;
  isDone: boolean;
}

/** An evaluation with all that it takes. */
interface Evaluated {
  readonly id: string;
  readonly trace: string;
  readonly plan: Plan;
  readonly prompt: PromptVersion;
  readonly dataset: string;
  readonly scorers: readonly Scorer[];
  readonly items: readonly Item[];
  readonly scores: Map<number, Readonly<Record<string, number | string>>>;
  readonly latencies: Map<number, number>;
  isEnded: boolean;
}

const sleep = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

const now = (): string => new Date().toISOString();

/** Whether the same request may succeed later. */
const mayPass = (error: unknown): boolean =>
  error instanceof RequestFailed &&
  (error.status === undefined || error.status === 408 || error.status === 429 || error.status >= 500);

/** Project, name and version of the object that a ref names. */
const parseRef = (ref: unknown): { readonly object_id: string; readonly digest: string } => {
  const [, object_id, digest] = /\/object\/([^/:]+):([^/:]+)$/.exec(String(ref)) ?? [];
  if (object_id === undefined || digest === undefined)
    throw new Error(`${String(ref)} names no version of an object.`);
  return { object_id, digest };
};

const readObject = async (client: Client, project: string, ref: unknown) =>
  (await client.ask('/obj/read', { project_id: project, ...parseRef(ref) })).obj;

const fieldOf = (value: unknown, name: string): unknown => (isObject(value) ? value[name] : undefined);

/** The rows of a version of a dataset. */
interface Table {
  readonly name: string;
  readonly rows: readonly Row[];
}

/** What evaluations share: the plan of each, and what all of them score. */
export interface NewRun {
  readonly project: string;
  /** The name of the dataset, and the ref of its version. */
  readonly dataset: string;
  readonly datasetRef: string;
  readonly plans: readonly Plan[];
  /** The names of scores. */
  readonly scorers: readonly string[];
}

/** The path of an operation, as clients report it. */
const toOp = (project: string, name: string): string => `svc:///${project}/op/${name}:v1`;

/**
 * Reports the roots of evaluations, one for each plan.
 *
 * @returns their ids
 * @throws RequestFailed
 */
export const beginRun = async (client: Client, run: NewRun): Promise<readonly string[]> => {
  const { project, dataset, datasetRef, plans, scorers } = run;
  // The same as the runners of clients store, so that their evaluations are compared with these.
  const val = { _type: 'Evaluation', name: dataset, dataset: datasetRef, scorers: [...scorers] };
  const object_id = `${dataset}-evaluation`;
  const { digest } = await client.ask('/obj/create', { obj: { project_id: project, object_id, val } });
  const starts = plans.map((plan): Start => {
    const trace = newTraceId();
    return {
      project_id: project,
      id: toCallId(trace, spans.root),
      trace_id: trace,
      parent_id: null,
      op_name: toOp(project, 'Evaluation.evaluate'),
      started_at: now(),
      attributes: toAttributes(plan) as unknown as NonNullable<Start['attributes']>,
      inputs: { self: `svc:///${project}/object/${object_id}:${digest}`, model: planText(plan) },
    };
  });
  const batch = starts.map((start): Report => ({ mode: 'start', req: { start } }));
  await client.ask('/call/upsert_batch', { batch });
  return starts.map(({ id }) => id ?? '');
};

interface RunOptions {
  /** Whether anybody is still there for whom it runs. @default - always */
  readonly isWanted?: () => boolean;
  /** The unit of all pauses, as a share of the usual ones. @default 1 */
  readonly pace?: number;
}

/** Evaluations that are run, continued and stopped together. */
export class EvaluationRun {
  readonly store: StoreApi<RunState>;
  readonly #client: Client;
  readonly #project: string;
  readonly #ids: readonly string[];
  readonly #isWanted: () => boolean;
  readonly #pace: number;
  #evaluated: readonly Evaluated[] = [];
  /** Until when no model is asked, in ms since 1970: one has asked to wait. */
  #heldUntil = 0;
  #failures = 0;
  #mayFail = false;

  constructor(client: Client, project: string, ids: readonly string[], options: RunOptions = {}) {
    this.store = createStore<RunState>()(() => ({ phase: 'stopped', parts: [], reason: undefined }));
    this.#client = client;
    this.#project = project;
    this.#ids = ids;
    this.#isWanted = options.isWanted ?? (() => true);
    this.#pace = options.pace ?? 1;
  }

  /** Whether it is at work: it is kept then, whoever looks. */
  get isAtWork(): boolean {
    return isBusy(this.store.getState());
  }

  /** Reads how it stands, without going on. */
  readonly look = (): Promise<void> => this.#locked(async () => {});

  /** Goes on where it stands. */
  readonly start = (): Promise<void> =>
    this.#locked(async () => {
      this.store.setState({ phase: 'running' });
      await this.#run();
    });

  /** Asks for nothing more. What is on its way is taken. */
  readonly stop = (): void => {
    if (this.store.getState().phase === 'running') this.store.setState({ phase: 'stopping' });
  };

  /** Reads how it stands and goes on, in one tab at a time. */
  async #locked(work: () => Promise<void>): Promise<void> {
    if (this.isAtWork) return;
    this.store.setState({ phase: 'reading', reason: undefined });
    const all = async () => {
      try {
        await this.#read();
        if (!this.#evaluated.every(({ isEnded }) => isEnded)) await work();
      } catch (error) {
        this.#pause(errorText(error));
      }
      const isDone = this.#evaluated.length > 0 && this.#evaluated.every(({ isEnded }) => isEnded);
      this.store.setState({ phase: isDone ? 'done' : 'stopped' });
    };
    // Browsers have locks where a page comes by HTTPS or from this device.
    const { locks } = globalThis.navigator ?? {};
    if (!locks) return all();
    await locks.request(`evaluation ${this.#ids.join()}`, { ifAvailable: true }, (lock) => {
      if (lock) return all();
      this.store.setState({ phase: 'stopped', reason: 'Another tab runs this evaluation.' });
    });
  }

  get #isOn(): boolean {
    if (!this.#isWanted()) this.stop();
    return this.store.getState().phase === 'running';
  }

  #pause(reason: string): void {
    const before = this.store.getState();
    // The first reason is what the others come from. Whoever stops needs none.
    this.store.setState({ reason: before.reason ?? (reason || undefined) });
    this.stop();
  }

  #sleep(ms: number): Promise<void> {
    return sleep(ms * this.#pace);
  }

  /** Does something again that may pass, a few times. */
  async #again<Result>(work: () => Promise<Result>): Promise<Result> {
    for (let tried = 1; ; tried++) {
      try {
        return await work();
      } catch (error) {
        if (tried === tries || !mayPass(error)) throw error;
        await this.#sleep(firstPauseMs * 2 ** (tried - 1));
      }
    }
  }

  #rows(request: Omit<CallsQuery, 'project_id'>): Promise<CallRow[]> {
    return this.#again(async () => {
      const rows: CallRow[] = [];
      const body = { project_id: this.#project, ...request };
      for await (const batch of this.#client.stream('/calls/stream_query', body)) rows.push(...batch);
      return rows;
    });
  }

  #report(batch: readonly Report[]): Promise<unknown> {
    return this.#again(() => this.#client.ask('/call/upsert_batch', { batch: [...batch] }));
  }

  // Reading how it stands.

  async #read(): Promise<void> {
    const columns = ['started_at', 'ended_at', 'trace_id', 'attributes', 'inputs.self', 'summary.svc'];
    const roots = await this.#rows({ filter: { call_ids: [...this.#ids] }, columns });
    const missing = this.#ids.filter((id) => !roots.some((root) => root.id === id));
    if (missing.length > 0)
      throw new Error('This evaluation does not exist: it was deleted, or the link is incomplete.');
    const evaluated: Evaluated[] = [];
    const tables = new Map<string, Promise<Table>>();
    for (const id of this.#ids) {
      const root = roots.find((one) => one.id === id);
      if (root) evaluated.push(await this.#readOne(root, tables));
    }
    this.#evaluated = evaluated;
    this.#show();
  }

  async #readDataset(self: unknown): Promise<Table> {
    const definition = await this.#again(() => readObject(this.#client, this.#project, self));
    const ref = fieldOf(definition.val, 'dataset');
    const version = await this.#again(() => readObject(this.#client, this.#project, ref));
    const rows = await this.#again(() => readTable(this.#client, this.#project, getTableDigest(version)));
    return { name: version.object_id, rows: rows.map(({ val }) => val) };
  }

  async #readOne(root: CallRow, tables: Map<string, Promise<Table>>): Promise<Evaluated> {
    const plan = parsePlan(root.attributes);
    const self = fieldOf(root.inputs, 'self');
    if (!plan) throw new Error('A program runs this evaluation, so the page cannot continue it.');
    const table = tables.get(String(self)) ?? this.#readDataset(self);
    tables.set(String(self), table);
    const { name, rows } = await table;
    const { prompt: promptName, version: version_index } = plan;
    const ask = { project_id: this.#project, name: promptName, version_index };
    const prompt = await this.#again(() => this.#client.ask('/prompt/read', ask));
    const scorers: Scorer[] = [];
    for (const ref of plan.evaluators) {
      const evaluator = parseEvaluator(await this.#again(() => readObject(this.#client, this.#project, ref)));
      if (!evaluator) throw new Error(`${ref} is no evaluator.`);
      scorers.push({ ref, evaluator });
    }
    const items: Item[] = [];
    const evaluated = {
      id: root.id,
      trace: root.trace_id,
      plan,
      prompt,
      dataset: name,
      scorers,
      items,
      scores: new Map(),
      latencies: new Map(),
      isEnded: root.ended_at !== null && root.ended_at !== undefined,
    };
    for (const [at, row] of rows.entries()) items.push({ of: evaluated, at, row, tries: 0, isDone: false });
    await this.#readItems(evaluated);
    return evaluated;
  }

  /** Reads what became of rows: by their ids, since lists may be a moment behind. */
  async #readItems({ trace, items, scores, latencies }: Evaluated): Promise<void> {
    const call_ids = items.flatMap(({ at }) =>
      [spans.row(at), spans.request(at)].map((span) => toCallId(trace, span)),
    );
    const columns = ['started_at', 'ended_at', 'attributes.tries', 'output', 'exception', 'summary.svc'];
    const calls: CallRow[] = [];
    for (const some of toChunks(call_ids, 1000))
      calls.push(...(await this.#rows({ filter: { call_ids: some }, columns })));
    const byId = new Map(calls.map((call) => [call.id, call]));
    for (const item of items) {
      const row = byId.get(toCallId(trace, spans.row(item.at)));
      const request = byId.get(toCallId(trace, spans.request(item.at)));
      item.tries = Number(valueAt(request?.attributes, 'tries') ?? 0);
      if (request?.ended_at && getStatus(request) === 'success') item.answer = toAnswer(request);
      // What was refused is asked again, and what was asked after that may be on its way.
      else if (request && !row?.ended_at)
        item.askedAt = getDuration(request) >= 0 ? 0 : Date.parse(request.started_at);
      else if (request) item.failure = request.exception ?? 'It failed.';
      if (!row?.ended_at) continue;
      item.isDone = true;
      const { scores: given, model_latency: seconds } = isObject(row.output) ? row.output : {};
      const { numbers, texts } = scoresIn(given);
      scores.set(item.at, Object.fromEntries([...numbers, ...texts]));
      if (typeof seconds === 'number') latencies.set(item.at, seconds);
    }
  }

  /**
   * What the service has recorded of a request whose answer nobody took. It may still be on its way.
   *
   * @returns the answer; null if there is none and none will come
   */
  async #findAnswer({ of: { trace }, at, askedAt = 0, tries: asked }: Item): Promise<Item['answer'] | null> {
    const parent = toCallId(trace, spans.request(at));
    const filter = { trace_ids: [trace], parent_ids: [parent] };
    const columns = ['started_at', 'ended_at', 'output', 'exception', 'summary.svc'];
    for (;;) {
      const calls = (await this.#rows({ filter, columns })).filter(({ ended_at }) => ended_at);
      const answered = calls.find((call) => getStatus(call) === 'success');
      if (answered) return toAnswer(answered);
      if (calls.length >= asked || Date.now() > askedAt + answerSeconds * 1000 + recordingMs) return null;
      if (!this.#isOn) return undefined;
      await this.#sleep(lookMs);
    }
  }

  // Running.

  async #run(): Promise<void> {
    const rows = Math.max(...this.#evaluated.map(({ items }) => items.length));
    const inTurns = Array.from({ length: rows }, (_, at) =>
      this.#evaluated.flatMap(({ items }) => items[at] ?? []),
    );
    const waiting = inTurns.flat().filter(({ isDone }) => !isDone);
    const judging = new Set<Item>();
    this.#failures = 0;
    let working = parallel;
    const work = async () => {
      try {
        for (let item = waiting.shift(); item && this.#isOn; item = waiting.shift()) {
          await this.#answer(item);
          if (item.failure === undefined && item.answer === undefined) continue;
          if (item.failure === undefined && item.of.scorers.length > 0) judging.add(item);
          else await this.#finish(item, new Map());
          this.#show(judging);
        }
      } catch (error) {
        this.#pause(errorText(error));
      }
      working -= 1;
    };
    await Promise.all([...Array.from({ length: parallel }, work), this.#judge(judging, () => working > 0)]);
    this.#show(judging);
    for (const evaluated of this.#evaluated)
      if (!evaluated.isEnded && evaluated.items.every(({ isDone }) => isDone)) await this.#end(evaluated);
  }

  #place(item: Item, span: string) {
    return { project_id: this.#project, id: toCallId(item.of.trace, span), trace_id: item.of.trace };
  }

  #toEnd(item: Item, span: string, end: Partial<End>): Report {
    const { project_id, id } = this.#place(item, span);
    return { mode: 'end', req: { end: { project_id, id, ended_at: now(), summary: {}, ...end } } };
  }

  /** Has a row answered, unless it is. */
  async #answer(item: Item): Promise<void> {
    if (item.answer || item.failure !== undefined) return;
    const { of: evaluated, at, row } = item;
    const { plan, prompt } = evaluated;
    const chat = toChat(prompt, plan, row);
    if (!(await this.#mayAsk())) return;
    if (item.askedAt !== undefined) {
      const found = await this.#findAnswer(item);
      if (found === undefined) return;
      if (found) {
        item.answer = found;
        await this.#report([
          this.#toEnd(item, spans.request(at), { output: found.completion as End['output'] }),
        ]);
        return;
      }
    }
    if ('problem' in chat) {
      item.failure = chat.problem;
      await this.#report(this.#toStarts(item, {}));
    } else
      item.answer = await this.#ask(item, chat.body).catch(async (error: unknown) => {
        // Whoever continues need not wait for an answer.
        if (error instanceof Pause && error.isRefused)
          await this.#report([this.#toEnd(item, spans.request(at), { exception: error.message })]);
        throw error;
      });
    const end = item.answer
      ? { output: item.answer.completion as End['output'] }
      : { exception: item.failure ?? null };
    await this.#report([this.#toEnd(item, spans.request(at), end)]);
  }

  /** The starts of a row, and of the request for it below. */
  #toStarts(item: Item, body: object): Report[] {
    const { of: evaluated, at, row } = item;
    const { plan } = evaluated;
    const rowCall = this.#place(item, spans.row(at));
    const expected = plan.exact === undefined ? undefined : valueAt(row, plan.exact);
    const { prompt } = toAttributes(plan);
    const starts = [
      {
        ...rowCall,
        parent_id: evaluated.id,
        op_name: toOp(this.#project, 'Evaluation.predict_and_score'),
        started_at: now(),
        attributes: { source: 'evaluation' },
        inputs: { example: row, model: planText(plan) },
      },
      {
        ...this.#place(item, spans.request(at)),
        parent_id: rowCall.id,
        op_name: toOp(this.#project, plan.prompt.replaceAll(/[^\w.-]/g, '-')),
        started_at: now(),
        // What judges are told that was expected.
        attributes: {
          source: 'evaluation',
          prompt,
          expected: expected ?? fieldOf(row, 'expected') ?? null,
          tries: item.tries,
        },
        inputs: body,
      },
    ];
    return starts.map((start) => ({ mode: 'start', req: { start: start as Start } }));
  }

  /** Waits as long as a model has asked to, and says whether the run still goes on. */
  async #mayAsk(): Promise<boolean> {
    while (Date.now() < this.#heldUntil && this.#isOn)
      await this.#sleep(Math.min(lookMs, this.#heldUntil - Date.now()));
    return this.#isOn;
  }

  /** Asks the model, again after what may pass. */
  async #ask(item: Item, body: object): Promise<Item['answer']> {
    const { of: evaluated, at } = item;
    const { prompt: name, version } = evaluated.plan;
    const asking = {
      source: 'evaluation' as const,
      prompt: { name, version },
      parent: { trace: evaluated.trace, span: spans.request(at) },
    };
    for (let tried = 1; ; tried++) {
      if (tried > 1 && !(await this.#mayAsk())) throw new Pause('', true);
      item.tries += 1;
      // So that whoever continues knows of it.
      await this.#report(this.#toStarts(item, body));
      const began = performance.now();
      try {
        const { chunks } = await this.#client.askModel(
          this.#project,
          { ...body, timeout: answerSeconds },
          asking,
        );
        let completion: unknown = null;
        for await (const chunk of chunks) completion = chunk;
        this.#failures = 0;
        return { completion, seconds: (performance.now() - began) / 1000 };
      } catch (error) {
        const pauseMs = this.#weighFailure(error, tried);
        if (pauseMs === undefined) {
          this.#failures += 1;
          item.failure = errorText(error);
          if (this.#failures >= failuresInRow && !this.#mayFail) {
            this.#mayFail = true;
            this.#pause(
              `${failuresInRow} rows failed one after the other. The last says: ${errorText(error)}`,
            );
          }
          return undefined;
        }
        // One that asks too often has all of them wait.
        const isTooOften = error instanceof RequestFailed && error.status === 429;
        if (isTooOften) this.#heldUntil = Math.max(this.#heldUntil, Date.now() + pauseMs * this.#pace);
        await this.#sleep(pauseMs);
      }
    }
  }

  /**
   * Decides what a failed request means.
   *
   * @returns how long to wait before the next try, in ms; undefined if the row has failed
   * @throws Pause if the run is to pause
   */
  #weighFailure(error: unknown, tried: number): number | undefined {
    if (!(error instanceof RequestFailed)) throw new Pause(errorText(error));
    const { status, again } = error;
    // Whether the model was asked is not known. Whoever continues looks for its answer.
    if (status === undefined || status === 401 || status === 403 || again.isLimit)
      throw new Pause(error.message, status !== undefined);
    const usual = firstPauseMs * 2 ** (tried - 1) * (0.75 + Math.random() / 2);
    if (status === 429) {
      if (tried === tries || (again.afterMs ?? 0) > longestWaitMs) throw new Pause(error.message, true);
      return again.afterMs ?? usual;
    }
    // A model that took too long would take as long again.
    const isOver = status === 504 || tried === tries || !mayPass(error);
    return isOver ? undefined : Math.min(again.afterMs ?? usual, longestWaitMs);
  }

  // Scoring.

  /** Has evaluators judge what was answered, until all is judged. */
  async #judge(judging: Set<Item>, mayCome: () => boolean): Promise<void> {
    const asked = new Map<Item, number>();
    while (this.#isOn && (mayCome() || judging.size > 0)) {
      try {
        if (judging.size > 0) await this.#judgeOnce(judging, asked);
      } catch (error) {
        this.#pause(errorText(error));
        return;
      }
      await this.#sleep(lookMs);
    }
  }

  async #judgeOnce(judging: Set<Item>, asked: Map<Item, number>): Promise<void> {
    const items = [...judging];
    const known = await this.#readVerdicts(items);
    for (const item of items) {
      const verdicts = known.get(item) ?? new Map<Scorer, Verdict>();
      const limited = [...verdicts.values()].filter(isLimited);
      if (limited.length > 0 && asked.has(item)) throw new Pause(limited[0]?.error ?? '');
      // Before it is asked again, what says that the money was spent has to go.
      if (limited.length > 0) await this.#forget(limited);
      else if (verdicts.size === item.of.scorers.length) {
        judging.delete(item);
        await this.#finish(item, verdicts);
        this.#show(judging);
      }
    }
    const late = [...judging].filter((item) => Date.now() > (asked.get(item) ?? 0) + askAgainMs);
    for (const [of, some] of Map.groupBy(late, (item) => item.of)) {
      const call_ids = some.map(({ at }) => toCallId(of.trace, spans.request(at)));
      const scorer_refs = of.scorers.map(({ ref }) => ref);
      await this.#again(() =>
        this.#client.ask('/calls/score', { project_id: this.#project, call_ids, scorer_refs }),
      );
      for (const item of some) asked.set(item, Date.now());
    }
  }

  /** The verdicts that there are on what was answered. */
  async #readVerdicts(items: readonly Item[]): Promise<ReadonlyMap<Item, ReadonlyMap<Scorer, Verdict>>> {
    const found = new Map<Item, ReadonlyMap<Scorer, Verdict>>();
    for (const some of toChunks(items, callsAtOnce)) {
      const byCall = new Map(some.map((item) => [toCallId(item.of.trace, spans.request(item.at)), item]));
      const refs = [...byCall.keys()].map((id) => ({ $literal: `svc:///${this.#project}/call/${id}` }));
      const scorers = new Set(some.flatMap(({ of }) => of.scorers));
      const types = [...scorers].map(({ evaluator }) => ({ $literal: toVerdictType(evaluator.value.name) }));
      const $and = [
        { $in: [{ $getField: 'svc_ref' }, refs] },
        { $in: [{ $getField: 'feedback_type' }, types] },
      ];
      const query = { $expr: { $and } } as Request<'/feedback/query'>['query'];
      const body = { project_id: this.#project, query, limit: maxRecords };
      const { result } = await this.#again(() => this.#client.ask('/feedback/query', body));
      for (const [id, item] of byCall) {
        const verdicts = item.of.scorers.flatMap((scorer): (readonly [Scorer, Verdict])[] => {
          const verdict = verdictsIn(result, scorer.evaluator.id).find(({ call }) => call === id);
          return verdict ? [[scorer, verdict]] : [];
        });
        found.set(item, new Map(verdicts));
      }
    }
    return found;
  }

  async #forget(verdicts: readonly Verdict[]): Promise<void> {
    const $or = verdicts.map(({ id }): Operation => ({ $eq: [{ $getField: 'id' }, { $literal: id }] }));
    const query = { $expr: { $or } } as unknown as Request<'/feedback/purge'>['query'];
    await this.#again(() => this.#client.ask('/feedback/purge', { project_id: this.#project, query }));
  }

  /** Reports what a row came to. What failed scores 0, so that it cannot look better. */
  async #finish(item: Item, verdicts: ReadonlyMap<Scorer, Verdict>): Promise<void> {
    const { of: evaluated, at, row, answer } = item;
    const { plan, scorers } = evaluated;
    const output = answer ? answerIn(answer.completion) : null;
    const scores: Record<string, number | string> = {};
    const given: {
      readonly name: string;
      readonly value: unknown;
      readonly reason: string | undefined;
      readonly error?: string | undefined;
    }[] = [];
    if (plan.exact !== undefined) {
      const expected = valueAt(row, plan.exact);
      const value = answer !== undefined && isExact(output, expected);
      scores[exactName] = Number(value);
      const text = typeof expected === 'string' ? expected : JSON.stringify(expected ?? null);
      given.push({ name: exactName, value, reason: `expected: ${text}` });
    }
    for (const scorer of scorers) {
      const { name, judge } = scorer.evaluator.value;
      const { value = null, reason, error } = verdicts.get(scorer) ?? {};
      if (typeof value === 'string') scores[name] = value;
      else if (value !== null || judge?.answer.type !== 'label') scores[name] = Number(value ?? 0);
      given.push({ name, value, reason, error });
    }
    const seconds = answer?.seconds ?? 0;
    const parent_id = toCallId(evaluated.trace, spans.row(at));
    const ofScorers = given.flatMap(({ name, value, reason, error }, scorer): Report[] => {
      const span = spans.scorer(at, scorer);
      const start = {
        ...this.#place(item, span),
        parent_id,
        op_name: toOp(this.#project, name.replaceAll(/[^\w.-]/g, '-')),
        display_name: name,
        started_at: now(),
        attributes: { source: 'evaluation' },
        inputs: { output, example: row },
      };
      const end = {
        output: { value, ...(reason !== undefined && { reason }) } as End['output'],
        ...(error !== undefined && { exception: error }),
      };
      return [{ mode: 'start', req: { start: start as Start } }, this.#toEnd(item, span, end)];
    });
    const result = { output, scores, model_latency: seconds } as End['output'];
    // Without an answer there was nothing to score.
    await this.#report([...(answer ? ofScorers : []), this.#toEnd(item, spans.row(at), { output: result })]);
    item.isDone = true;
    evaluated.scores.set(at, scores);
    evaluated.latencies.set(at, seconds);
  }

  async #end(evaluated: Evaluated): Promise<void> {
    const means = Object.fromEntries([...toMeans(evaluated)].map(([name, mean]) => [name, { mean }]));
    const latencies = [...evaluated.latencies.values()];
    const output = {
      ...means,
      model_latency: {
        mean: latencies.reduce((sum, seconds) => sum + seconds, 0) / Math.max(1, latencies.length),
      },
    } as End['output'];
    const end = { project_id: this.#project, id: evaluated.id, ended_at: now(), output, summary: {} };
    await this.#report([{ mode: 'end', req: { end } }]);
    evaluated.isEnded = true;
  }

  #show(judging: ReadonlySet<Item> = new Set()): void {
    const parts = this.#evaluated.map((evaluated): Part => {
      const { id, plan, dataset, items } = evaluated;
      return {
        id,
        title: planText(plan),
        dataset,
        rows: items.length,
        done: items.filter(({ isDone }) => isDone).length,
        judging: items.filter((item) => judging.has(item)).length,
        failed: items.filter(({ isDone, failure }) => isDone && failure !== undefined).length,
        means: toMeans(evaluated),
        failure: items.findLast(({ failure }) => failure !== undefined)?.failure,
      };
    });
    this.store.setState({ parts });
  }
}

/** What a recorded request was answered. */
const toAnswer = (call: CallRow): NonNullable<Item['answer']> => ({
  completion: call.output,
  seconds: Math.max(0, getDuration(call) / 1000 || 0),
});

/** Whether there is no verdict since a limit leaves too little for it. */
const isLimited = ({ value, error = '' }: Verdict): boolean =>
  value === null && /; it resets at /.test(error);

/** The mean of each score that is a number, over the rows that are done. */
const toMeans = ({ scores }: Pick<Evaluated, 'scores'>): ReadonlyMap<string, number> => {
  const rows = [...scores.values()];
  const names = new Set(rows.flatMap((row) => Object.keys(row)));
  return new Map(
    [...names].flatMap((name): (readonly [string, number])[] => {
      const values = rows.map((row) => row[name] ?? 0);
      const numbers = values.filter((value) => typeof value === 'number');
      if (numbers.length < values.length) return [];
      return [[name, numbers.reduce((sum, value) => sum + value, 0) / values.length]];
    }),
  );
};
