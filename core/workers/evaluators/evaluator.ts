import type { Evaluator } from '../../../api/evaluators.ts';
import { noIncludes } from '../../../api/queries.ts';
import { evaluatorClass } from '../../../api/shared/classes.ts';
import { shortDigest } from '../../../foundations/encoding/index.ts';
import { Memory } from '../../../foundations/memory.ts';
import type { RequestBudget, Store } from '../../../foundations/storage/index.ts';
import {
  canonicalJson,
  deriveId,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type ProjectId,
  parseJson,
} from '../../../foundations/wire/index.ts';
import { compileTests, plan, type Tests } from '../../questions/query/index.ts';
import {
  type Address,
  findVersions,
  getOwnClass,
  readClass,
  readValues,
  type VersionHeader,
} from '../../records/objects/index.ts';

/** A version of an evaluator, ready to judge. */
export interface LoadedEvaluator {
  readonly projectId: ProjectId;
  readonly objectId: string;
  readonly digest: string;
  /** Who made the version. What its judges do is in this user's name. */
  readonly userId: string;
  readonly evaluator: Evaluator;
  /**
   * What it is to judge and how. Versions of an object that have it in common are one evaluator, which
   * judges a call once: hex digits.
   */
  readonly identity: string;
  /** What a call has to pass to be judged. */
  readonly tests: Tests;
}

/** Parses the value of an evaluator; undefined for a value that is none. */
export type ParseEvaluator = (value: JsonObject) => Evaluator | undefined;

const toIdentity = ({ on, judge, check }: JsonObject): string =>
  shortDigest(canonicalJson([on ?? null, judge ?? null, check ?? null])).toString('hex');

const toLoaded = (
  header: VersionHeader,
  value: JsonObject,
  parse: ParseEvaluator,
): LoadedEvaluator | undefined => {
  const evaluator = parse(value);
  if (!evaluator) return undefined;
  const { projectId, objectId, digest, userId } = header;
  const { filter, where } = evaluator;
  const query = {
    projectId,
    filter,
    where,
    includes: noIncludes,
    columns: null,
    expand: [],
    limit: null,
    offset: 0,
    sort: [],
    returnExpanded: false,
  };
  const tests = compileTests(query, plan(query, Date.now() * 1000));
  return {
    projectId,
    objectId,
    digest,
    userId,
    evaluator,
    identity: toIdentity(value),
    tests,
  };
};

/** The latest versions of a project's evaluators that are enabled. */
const readEnabled = async (
  store: Store,
  projectId: ProjectId,
  parse: ParseEvaluator,
  budget: RequestBudget,
): Promise<readonly LoadedEvaluator[]> => {
  const found = await readClass(store, projectId, evaluatorClass, null, budget);
  return found.flatMap(({ header, value }) => {
    const loaded = toLoaded(header, value, parse);
    return loaded?.evaluator.enabled ? [loaded] : [];
  });
};

/**
 * Looks versions of evaluators up.
 *
 * @returns undefined for what is not there, or is no evaluator
 */
export const readEvaluators = async (
  store: Store,
  addresses: readonly Address[],
  parse: ParseEvaluator,
  budget: RequestBudget,
): Promise<(LoadedEvaluator | undefined)[]> => {
  const found = await findVersions(store, addresses, budget);
  const there = found.filter((version) => version !== undefined);
  const values = await readValues(store, there, budget);
  const loaded = new Map(
    there.map((version, i) => {
      const value = parseJson(values[i] ?? 'null') as JsonValue;
      const isOne = getOwnClass(value) === evaluatorClass && isJsonObject(value);
      return [version, isOne ? toLoaded(version.header, value, parse) : undefined];
    }),
  );
  return found.map((version) => version && loaded.get(version));
};

/**
 * A version of an evaluator as its latest version lets it judge. The switch and the limit of the latest
 * one hold for all that have a judge, since they take the role `admin` to change, and `write` asks for any
 * version.
 *
 * @returns undefined for a judge if the latest version is switched off, or has none
 */
export const asLatestLets = (
  version: LoadedEvaluator,
  latest: LoadedEvaluator | undefined,
): LoadedEvaluator | undefined => {
  if (!version.evaluator.judge) return version;
  if (!latest?.evaluator.enabled || !latest.evaluator.judge) return undefined;
  const { maxUsdPerDay } = latest.evaluator;
  return { ...version, evaluator: { ...version.evaluator, maxUsdPerDay } };
};

/** Where evaluators are, and how they are read. */
export interface EvaluatorSource {
  readonly objects: Store;
  readonly parse: ParseEvaluator;
  /** For how long what was read counts, in milliseconds. */
  readonly rememberedMs: number;
}

/** Reads evaluators, and remembers them for some seconds. */
export class Evaluators {
  readonly #source: EvaluatorSource;
  readonly #enabled: Memory<readonly LoadedEvaluator[]>;
  readonly #versions: Memory<LoadedEvaluator | undefined>;

  constructor(source: EvaluatorSource) {
    this.#source = source;
    this.#enabled = new Memory(source.rememberedMs);
    this.#versions = new Memory(source.rememberedMs);
  }

  /** The enabled evaluators of a project. */
  enabledIn(projectId: ProjectId, budget: RequestBudget): Promise<readonly LoadedEvaluator[]> {
    const { objects, parse } = this.#source;
    return this.#enabled.get(projectId, () => readEnabled(objects, projectId, parse, budget));
  }

  /** A version of an evaluator; undefined if it is gone. */
  version(address: Address, budget: RequestBudget): Promise<LoadedEvaluator | undefined> {
    const { objects, parse } = this.#source;
    const { projectId, objectId, version } = address;
    return this.#versions.get(JSON.stringify([projectId, objectId, version]), async () => {
      const [found] = await readEvaluators(objects, [address], parse, budget);
      return found;
    });
  }
}

/** An id as a number from 0 to 1 that looks random and is always the same. */
const toFraction = (objectId: string, id: string): number =>
  shortDigest(`${objectId}\n${id}`).readUInt32BE(0) / 2 ** 32;

/** Whether a call is in an evaluator's sample: always the same for the same id. */
export const isSampled = (
  { objectId, evaluator: { sampleRate } }: LoadedEvaluator,
  callId: string,
): boolean => sampleRate >= 1 || (sampleRate > 0 && toFraction(objectId, callId) < sampleRate);

/** The id of an evaluator's verdict on a call: one, whoever judges and however often. */
export const verdictId = (
  { projectId, objectId, identity }: Pick<LoadedEvaluator, 'projectId' | 'objectId' | 'identity'>,
  callId: string,
): string => deriveId(0, [projectId, callId, objectId, identity].join('\n'));
