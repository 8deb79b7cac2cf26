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
export const toIssueId = ({
  kind,
  opName,
  toolName,
  message,
}: Pick<Sighting, 'kind' | 'opName' | 'toolName' | 'message'>): string =>
  shortDigest(JSON.stringify([kind, toolName ?? opName, message.toLowerCase()])).toString('hex');

/** How many texts are counted exactly. */
const exact = 32;
/** By how many bits of its hash a text has its register, and how many are left. */
const registerBits = 8;
const registers = 2 ** registerBits;
const restBits = 32 - registerBits;

const toHash = (text: string): number => createHash('sha256').update(text).digest().readUInt32BE();

/** The sums of Ertl's estimator, over the share of registers that are empty, and of those that are not full. */
const sigma = (empty: number): number => {
  if (empty === 1) return Number.POSITIVE_INFINITY;
  let sum = empty;
  for (let x = empty, y = 1, before = -1; sum !== before; y *= 2) {
    x *= x;
    before = sum;
    sum += x * y;
  }
  return sum;
};
const tau = (notFull: number): number => {
  if (notFull === 0 || notFull === 1) return 0;
  let sum = 1 - notFull;
  for (let x = notFull, y = 1, before = -1; sum !== before; ) {
    x = Math.sqrt(x);
    before = sum;
    y /= 2;
    sum -= (1 - x) ** 2 * y;
  }
  return sum / 3;
};

/** How many texts fill registers so (Ertl, arXiv:1702.01284, algorithm 6). */
const estimate = (ranks: Uint8Array): number => {
  const counts = new Array<number>(restBits + 2).fill(0);
  for (const rank of ranks) counts[rank] = (counts[rank] ?? 0) + 1;
  let z = registers * tau(1 - (counts[restBits + 1] ?? 0) / registers);
  for (let rank = restBits; rank > 0; rank--) z = (z + (counts[rank] ?? 0)) / 2;
  z += registers * sigma((counts[0] ?? 0) / registers);
  return Math.round(registers ** 2 / (2 * Math.LN2 * z));
};

/**
 * Counts distinct texts: exactly up to 32, and then by HyperLogLog, with a standard error of 6.5 %. Merging gives the
 * same in any order.
 */
export class Distinct {
  #hashes: number[] = [];
  /** Undefined as long as the hashes are all. */
  #ranks: Uint8Array | undefined;

  add(text: string): void {
    this.#add(toHash(text));
  }

  #add(hash: number): void {
    if (this.#ranks) this.#rank(this.#ranks, hash);
    else if (!this.#hashes.includes(hash)) this.#hashes.push(hash);
    if (this.#hashes.length > exact) this.#estimate();
  }

  #rank(ranks: Uint8Array, hash: number): void {
    const register = hash >>> restBits;
    const rank = Math.min(Math.clz32(hash << registerBits), restBits) + 1;
    ranks[register] = Math.max(ranks[register] ?? 0, rank);
  }

  #estimate(): Uint8Array {
    const ranks = this.#ranks ?? new Uint8Array(registers);
    this.#ranks = ranks;
    for (const hash of this.#hashes) this.#rank(ranks, hash);
    this.#hashes = [];
    return ranks;
  }

  merge(other: Distinct): void {
    for (const hash of other.#hashes) this.#add(hash);
    if (!other.#ranks) return;
    const ranks = this.#estimate();
    for (const [register, rank] of other.#ranks.entries())
      ranks[register] = Math.max(ranks[register] ?? 0, rank);
  }

  get count(): number {
    return this.#ranks ? estimate(this.#ranks) : this.#hashes.length;
  }

  /** Hashes, or registers: there are more of these. */
  toBytes(): Uint8Array {
    if (this.#ranks) return this.#ranks;
    const bytes = Buffer.alloc(this.#hashes.length * 4);
    for (const [i, hash] of this.#hashes.toSorted((a, b) => a - b).entries())
      bytes.writeUInt32BE(hash, i * 4);
    return bytes;
  }

  static from(bytes: Uint8Array): Distinct {
    const made = new Distinct();
    if (bytes.length === registers) made.#ranks = Uint8Array.from(bytes);
    else {
      const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      for (let at = 0; at < bytes.length; at += 4) made.#hashes.push(view.getUint32(at));
    }
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

const noAgents: ReadonlyMap<string | null, number> = new Map();

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
  agents = noAgents;

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
    if (agent !== undefined) this.#seeAgents([[agent, 1]]);
  }

  #seeAgents(seen: Iterable<readonly [string | null, number]>): void {
    const agents = new Map(this.agents);
    for (const [agent, count] of seen) agents.set(agent, (agents.get(agent) ?? 0) + count);
    this.agents = agents;
  }

  merge(other: Tally): void {
    this.count += other.count;
    this.first = Math.min(this.first, other.first);
    this.last = Math.max(this.last, other.last);
    this.traces.merge(other.traces);
    this.users.merge(other.users);
    this.releases = byName([...this.releases, ...other.releases]);
    this.examples = latest([...this.examples, ...other.examples]);
    if (other.agents.size > 0) this.#seeAgents(other.agents);
  }
}

/** The most issues of an hour or a day that are told apart: the most common ones. */
const maxIssues = 500;
/** How many are held until the others are known: messages can be as many as calls. */
const maxHeld = 2 * maxIssues;

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
    if (this.issues.size > maxHeld) this.bound();
  }

  seeRelease(release: string, at: Micros): void {
    this.releases.set(release, Math.min(at, this.releases.get(release) ?? at));
    if (this.releases.size > maxHeld) this.#boundReleases();
  }

  #boundReleases(): void {
    for (const [release] of newestReleases(this.releases).slice(maxReleases)) this.releases.delete(release);
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
  bound(most = maxIssues): void {
    if (this.issues.size > most) {
      const byCount = [...this.issues].sort(([x, a], [y, b]) => b.count - a.count || compareText(x, y));
      for (const [id, { count }] of byCount.slice(most)) {
        this.issues.delete(id);
        this.leftOut += count;
      }
    }
    this.#boundReleases();
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

const packAll = (rollups: readonly IssueRollup[]): Promise<Uint8Array> => {
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

/** How many issues of each rollup are packed where more of them were too large. */
const keptShare = 0.7;

/**
 * Packs rollups of issues. Where they are too large, the rarest issues are left out, of the rollups themselves, too.
 *
 * @param maxBytes how large they may be together
 */
export const packIssues = async (rollups: readonly IssueRollup[], maxBytes: number): Promise<Uint8Array> => {
  let packed = await packAll(rollups);
  for (let most = maxIssues; packed.length > maxBytes && most > 1; ) {
    most = Math.floor(most * keptShare);
    for (const { tallies } of rollups) tallies.bound(most);
    packed = await packAll(rollups);
  }
  return packed;
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
