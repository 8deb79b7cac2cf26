import type { CallReport } from '../../../api/calls.ts';
import {
  getItems,
  type RequestBudget,
  requestBudget,
  type Store,
} from '../../../foundations/storage/index.ts';
import {
  isDigest,
  isJsonObject,
  type JsonValue,
  nonEmptyString,
  type ProjectId,
  parseRef,
  refScheme,
  ServiceError,
} from '../../../foundations/wire/index.ts';
import { getBaseObjectClass, isPromptClass } from '../../records/objects/index.ts';
import { digestKey, toHeader } from '../../records/objects/items.ts';

/*
 * Which prompt a call was made with. Weave's SDKs give a call's inputs as refs to what they have published,
 * so a prompt among them is known by its ref. `attributes.prompt` gets its name and version then, as other
 * clients report them.
 */

/** The prompt of a call, as `attributes.prompt` has it. */
interface NamedPrompt {
  readonly name: string;
  readonly version?: string;
}

/** A version that inputs refer to. */
interface Referred {
  readonly projectId: ProjectId;
  readonly objectId: string;
  readonly digest: string;
}

/** What may be the prompt of a call: an object in the inputs themselves, or what a ref leads to. */
type Candidate = NamedPrompt | Referred;

/** How far into the inputs of a call prompts are looked for: levels, values and candidates. */
const most = { levels: 4, values: 200, candidates: 8 } as const;

const toReferred = (text: string, projectId: ProjectId): Referred | undefined => {
  const ref = text.startsWith(refScheme) ? parseRef(text) : undefined;
  if (ref?.kind !== 'object' || ref.path !== '' || ref.projectId !== projectId) return undefined;
  return isDigest(ref.digest) ? { projectId, objectId: ref.name, digest: ref.digest } : undefined;
};

/** What may be the prompt among inputs, in the order in which it stands there. */
const candidatesIn = (inputs: JsonValue, projectId: ProjectId): readonly Candidate[] => {
  const found: Candidate[] = [];
  let left: number = most.values;
  const look = (value: JsonValue, levels: number): void => {
    if (left-- <= 0 || found.length >= most.candidates) return;
    if (typeof value === 'string') {
      const referred = toReferred(value, projectId);
      if (referred) found.push(referred);
      return;
    }
    if (typeof value !== 'object' || value === null || levels === 0) return;
    if (isJsonObject(value) && isPromptClass(getBaseObjectClass(value, 'object'))) {
      const name = nonEmptyString(value.name);
      if (name !== undefined) found.push({ name });
      return;
    }
    for (const item of Object.values(value)) look(item, levels - 1);
  };
  look(inputs, most.levels);
  return found;
};

const toPlace = ({ projectId, objectId, digest }: Referred): string => `${projectId}\n${objectId}\n${digest}`;

/** What is known of versions by their places: the prompt, or that it is none. A version never changes. */
const known = new Map<string, NamedPrompt | null>();
const mostKnown = 10_000;

/** The longest that looking for prompts may take, in milliseconds: a report waits for it. */
const lookMs = 1000;

/** Looks versions up that are not known yet. What is not there may come later. */
const lookUp = async (store: Store, wanted: readonly Referred[], budget: RequestBudget): Promise<void> => {
  for (const [projectId, versions] of Map.groupBy(wanted, (version) => version.projectId)) {
    const keys = versions.map((version) => digestKey(version, version.digest));
    const options = { consistent: false, attributes: ['o', 'h'] };
    for (const item of await getItems(store.table, keys, budget, options)) {
      const header = toHeader(projectId, item);
      const { objectId: name, versionIndex } = header;
      const isPrompt = isPromptClass(header.baseObjectClass);
      if (known.size >= mostKnown) known.clear();
      known.set(toPlace(header), isPrompt ? { name, version: String(versionIndex) } : null);
    }
  }
};

/**
 * Reports with the prompts of their calls. Those that name one already keep it. A report is as good without:
 * what storage does not say in time is left out.
 *
 * @param store that of objects
 */
export const withPrompts = async (
  store: Store,
  reports: readonly CallReport[],
  budget: RequestBudget,
): Promise<readonly CallReport[]> => {
  const candidates = new Map<CallReport, readonly Candidate[]>();
  for (const report of reports) {
    if (report.kind !== 'start' || Object.hasOwn(report.start.attributes, 'prompt')) continue;
    const found = candidatesIn(report.start.inputs, report.start.projectId);
    if (found.length > 0) candidates.set(report, found);
  }
  const referred = [...candidates.values()].flat().filter((candidate) => 'digest' in candidate);
  const unknown = new Map(
    referred.map((version) => [toPlace(version), version] as const).filter(([place]) => !known.has(place)),
  );
  if (unknown.size > 0) {
    const { deadline } = requestBudget(lookMs);
    const bounded = { ...budget, deadline: Math.min(deadline, budget.deadline) };
    await lookUp(store, [...unknown.values()], bounded).catch((error: unknown) => {
      if (!(error instanceof ServiceError)) throw error;
    });
  }
  return reports.map((report) => {
    const found = candidates.get(report)?.map((one) => ('digest' in one ? known.get(toPlace(one)) : one));
    const prompt = found?.find((one) => one !== undefined && one !== null);
    if (!prompt || report.kind !== 'start') return report;
    const attributes = { ...report.start.attributes, prompt: { ...prompt } };
    return { ...report, start: { ...report.start, attributes } };
  });
};
