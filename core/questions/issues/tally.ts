import { createHash } from 'node:crypto';
import { type IssueKind, issueKinds } from '../../../api/shared/issues.ts';
import {
  decodeMessagePack,
  encodeMessagePack,
  pack,
  shortDigest,
  unpack,
} from '../../../foundations/encoding/index.ts';
import { compareText } from '../../../foundations/expression/index.ts';
import type { Micros } from '../../../foundations/wire/index.ts';
import type { Hour } from '../../records/rollups.ts';

/** What is grouped: one failure, refused verdict, complaint or loop. */
export interface Sighting {
  readonly kind: IssueKind;
  /** Without its version; null for an unknown call. */
  readonly opName: string | null;
  readonly toolName: string | null;
  /** Without its variables. */
  readonly message: string;
  readonly at: Micros;
  readonly callId: string;
  readonly traceId: string | null;
  readonly userId: string | null;
  readonly release: string | null;
  /** Of a loop, the nearest agent at or above its calls; null outside of agents. */
  readonly agent?: string | null;
}

/** The id of the issue that a sighting belongs to: 32 hexadecimal digits. */
const toIssueId = ({
  kind,
  opName,
  toolName,
  message,
}: Pick<Sighting, 'kind' | 'opName' | 'toolName' | 'message'>): string =>
  shortDigest(JSON.stringify([kind, toolName ?? opName, message.toLowerCase()])).toString('hex');

/** How many values are counted exactly. */
const exact = 128;
const hashBytes = 6;
const hashes = 2 ** (8 * hashBytes);

const toHash = (text: string): number => createHash('sha256').update(text).digest().readUIntBE(0, hashBytes);

/**
 * Counts distinct texts by the smallest of their hashes (Bar-Yossef et al., RANDOM 2002): exactly up to 128, and then
 * with a standard error of 9 %. Merging gives the same in any order.
 */
export class Distinct {
  #smallest = new Set<number>();
  /** Whether larger hashes were forgotten. */
  #isCut = false;

  add(text: string): void {
    this.#keep(toHash(text));
  }

  #keep(hash: number): void {
    this.#smallest.add(hash);
    if (this.#smallest.size <= 2 * exact) return;
    this.#smallest = new Set(this.#sorted().slice(0, exact));
    this.#isCut = true;
  }

  #sorted(): number[] {
    return [...this.#smallest].sort((a, b) => a - b);
  }

  merge(other: Distinct): void {
    this.#isCut ||= other.#isCut;
    for (const hash of other.#smallest) this.#keep(hash);
  }

  get count(): number {
    if (!this.#isCut && this.#smallest.size <= exact) return this.#smallest.size;
    const last = this.#sorted()[exact - 1];
    return last === undefined ? this.#smallest.size : Math.round(((exact - 1) * hashes) / last);
  }

  toBytes(): Buffer {
    const all = this.#sorted();
    const isCut = this.#isCut || all.length > exact;
    const kept = all.slice(0, exact);
    const bytes = Buffer.alloc(1 + kept.length * hashBytes);
    bytes.writeUInt8(Number(isCut));
    for (const [i, hash] of kept.entries()) bytes.writeUIntBE(hash, 1 + i * hashBytes, hashBytes);
    return bytes;
  }

  static from(bytes: Uint8Array): Distinct {
    const made = new Distinct();
    const buffer = Buffer.from(bytes);
    made.#isCut = buffer[0] === 1;
    for (let at = 1; at + hashBytes <= buffer.length; at += hashBytes)
      made.#smallest.add(buffer.readUIntBE(at, hashBytes));
    return made;
  }
}

const maxReleases = 20;
const maxExamples = 3;
/** The most agents of an issue that are stored: those that it was seen in most. */
const maxAgents = 50;

type Example = readonly [at: Micros, callId: string];

const byName = (names: Iterable<string>): string[] =>
  [...new Set(names)].sort(compareText).slice(0, maxReleases);

/** The latest calls, each once. */
const latest = (examples: readonly Example[]): Example[] =>
  [
    ...new Map(
      examples.toSorted(([a, x], [b, y]) => a - b || compareText(x, y)).map((one) => [one[1], one]),
    ).values(),
  ]
    .toSorted(([a, x], [b, y]) => b - a || compareText(x, y))
    .slice(0, maxExamples);

/** Agents with how often an issue was seen in each, the most common ones first. */
export const commonestAgents = (agents: ReadonlyMap<string | null, number>): [string | null, number][] =>
  [...agents].sort(([x, a], [y, b]) => b - a || compareText(x ?? '', y ?? '')).slice(0, maxAgents);

/** What is known of an issue over some time. */
export class Tally {
  readonly kind: IssueKind;
  readonly title: string;
  readonly opName: string | null;
  readonly toolName: string | null;
  count = 0;
  first = Number.POSITIVE_INFINITY;
  last = Number.NEGATIVE_INFINITY;
  traces = new Distinct();
  users = new Distinct();
  releases: readonly string[] = [];
  examples: readonly Example[] = [];
  /** How often it was seen in each agent; null for outside of agents. Only loops have any. */
  agents = new Map<string | null, number>();

  constructor({
    kind,
    message,
    opName,
    toolName,
  }: Pick<Sighting, 'kind' | 'message' | 'opName' | 'toolName'>) {
    this.kind = kind;
    this.title = message;
    this.opName = opName;
    this.toolName = toolName;
  }

  add({ at, callId, traceId, userId, release, agent }: Sighting): void {
    this.count++;
    this.first = Math.min(this.first, at);
    this.last = Math.max(this.last, at);
    if (traceId !== null) this.traces.add(traceId);
    if (userId !== null) this.users.add(userId);
    if (release !== null && !this.releases.includes(release))
      this.releases = byName([...this.releases, release]);
    this.examples = latest([...this.examples, [at, callId]]);
    if (agent !== undefined) this.#count(agent, 1);
  }

  #count(agent: string | null, count: number): void {
    this.agents.set(agent, (this.agents.get(agent) ?? 0) + count);
  }

  merge(other: Tally): void {
    this.count += other.count;
    this.first = Math.min(this.first, other.first);
    this.last = Math.max(this.last, other.last);
    this.traces.merge(other.traces);
    this.users.merge(other.users);
    this.releases = byName([...this.releases, ...other.releases]);
    this.examples = latest([...this.examples, ...other.examples]);
    for (const [agent, count] of other.agents) this.#count(agent, count);
  }
}

/** The most issues of an hour or a day that are told apart: the most common ones. */
const maxIssues = 500;

/** The issues of some time. */
export class Tallies {
  readonly issues = new Map<string, Tally>();
  /** When the first call of each release started. */
  readonly releases = new Map<string, Micros>();
  /** Calls that were looked at. */
  calls = 0;
  /** How often something was seen that is in no issue. */
  leftOut = 0;

  see(sighting: Sighting): void {
    const id = toIssueId(sighting);
    this.#tally(id, sighting).add(sighting);
  }

  seeRelease(release: string, at: Micros): void {
    this.releases.set(release, Math.min(at, this.releases.get(release) ?? at));
  }

  #tally(id: string, about: ConstructorParameters<typeof Tally>[0]): Tally {
    const known = this.issues.get(id);
    if (known) return known;
    const made = new Tally(about);
    this.issues.set(id, made);
    return made;
  }

  merge(other: Tallies): void {
    this.calls += other.calls;
    this.leftOut += other.leftOut;
    for (const [release, at] of other.releases) this.seeRelease(release, at);
    for (const [id, tally] of other.issues) this.#tally(id, { ...tally, message: tally.title }).merge(tally);
  }

  /** Leaves all but the most common issues out, and all but the newest releases. */
  bound(): void {
    if (this.issues.size > maxIssues) {
      const byCount = [...this.issues].sort(([x, a], [y, b]) => b.count - a.count || compareText(x, y));
      for (const [id, { count }] of byCount.slice(maxIssues)) {
        this.issues.delete(id);
        this.leftOut += count;
      }
    }
    for (const [release] of newestReleases(this.releases).slice(maxReleases)) this.releases.delete(release);
  }
}

/** Releases with the time of their first call, the newest first. */
export const newestReleases = (releases: ReadonlyMap<string, Micros>): (readonly [string, Micros])[] =>
  [...releases].sort(([x, a], [y, b]) => b - a || compareText(x, y));

/** The issues of an hour or a day, as they are stored. */
export interface IssueRollup {
  /** The hour or the day, counted from 1970-01-01. */
  readonly number: Hour;
  /** The version of the mark that it was made under; 0 for no mark. */
  readonly mark: number;
  readonly tallies: Tallies;
}

/*
 * Rollups of issues are stored as one compressed MessagePack list, [version, names, rollups]. Texts are numbers in the
 * list of names.
 */

/** Another way of grouping is another version: what was stored before is made anew. */
const version = 2;

type PackedIssue = [
  kind: number,
  title: number,
  op: number,
  tool: number,
  count: number,
  first: Micros,
  last: Micros,
  traces: Uint8Array,
  users: Uint8Array,
  releases: number[],
  examples: [Micros, string][],
  agents: [name: number, count: number][],
];
type PackedRollup = [
  number: number,
  mark: number,
  calls: number,
  leftOut: number,
  releases: [number, Micros][],
  issues: PackedIssue[],
];

/** Packs rollups of issues. */
export const packIssues = (rollups: readonly IssueRollup[]): Promise<Uint8Array> => {
  const names = new Map<string | null, number>();
  const numberName = (text: string | null): number => {
    const number = names.get(text) ?? names.size;
    names.set(text, number);
    return number;
  };
  const packed = rollups.map(
    ({ number, mark, tallies }): PackedRollup => [
      number,
      mark,
      tallies.calls,
      tallies.leftOut,
      [...tallies.releases].map(([release, at]) => [numberName(release), at]),
      [...tallies.issues.values()].map((tally) => [
        issueKinds.indexOf(tally.kind),
        numberName(tally.title),
        numberName(tally.opName),
        numberName(tally.toolName),
        tally.count,
        tally.first,
        tally.last,
        tally.traces.toBytes(),
        tally.users.toBytes(),
        tally.releases.map(numberName),
        tally.examples.map(([at, id]) => [at, id]),
        commonestAgents(tally.agents).map(([agent, count]) => [numberName(agent), count]),
      ]),
    ],
  );
  return pack(encodeMessagePack([version, [...names.keys()], packed]));
};

/**
 * Unpacks rollups of issues.
 *
 * @returns none if another release wrote them otherwise: they are made anew
 * @throws Error if the bytes are damaged
 */
export const unpackIssues = (bytes: Uint8Array): IssueRollup[] => {
  const [found, names, packed] = decodeMessagePack(unpack(bytes)) as [
    number,
    (string | null)[],
    PackedRollup[],
  ];
  if (found !== version) return [];
  const nameOf = (number: number): string => names[number] ?? '';
  return packed.map(([number, mark, calls, leftOut, releases, issues]) => {
    const tallies = new Tallies();
    tallies.calls = calls;
    tallies.leftOut = leftOut;
    for (const [release, at] of releases) tallies.seeRelease(nameOf(release), at);
    for (const packedIssue of issues) {
      const [kind, title, op, tool, count, first, last, traces, users, ofReleases, examples, agents] =
        packedIssue;
      const tally = new Tally({
        kind: issueKinds[kind] ?? 'error',
        message: nameOf(title),
        opName: names[op] ?? null,
        toolName: names[tool] ?? null,
      });
      const { kind: kindName, title: message, opName, toolName } = tally;
      Object.assign(tally, { count, first, last, releases: ofReleases.map(nameOf), examples });
      tally.traces = Distinct.from(traces);
      tally.users = Distinct.from(users);
      tally.agents = new Map(agents.map(([agent, times]) => [names[agent] ?? null, times]));
      tallies.issues.set(toIssueId({ kind: kindName, message, opName, toolName }), tally);
    }
    return { number, mark, tallies };
  });
};
