/** The calls that `agent-traces.ts` makes, in the form that the service takes. */

/** A call's start and end as `/call/upsert_batch` takes them. */
export interface TracedCall {
  readonly start: {
    readonly project_id: string;
    readonly id: string;
    readonly op_name: string;
    readonly display_name: string | null;
    readonly trace_id: string;
    readonly parent_id: string | null;
    readonly thread_id: string;
    readonly turn_id: string;
    readonly started_at: string;
    readonly attributes: Readonly<Record<string, unknown>>;
    readonly inputs: Readonly<Record<string, unknown>>;
  };
  readonly end: {
    readonly project_id: string;
    readonly id: string;
    readonly ended_at: string;
    readonly output: unknown;
    readonly exception: string | null;
    readonly summary: Readonly<Record<string, unknown>>;
  };
}

/** Where a call stands: its project, its conversation and its turn. */
export interface CallPlace {
  /** `<entity>/<project>`. */
  readonly projectId: string;
  /** The conversation's number, from 0. */
  readonly conversation: number;
  readonly thread: string;
  readonly trace: string;
  /** Id of the turn's root call, which every other call of the turn has for its parent. */
  readonly turn: string;
}

/** What a call did. */
export interface CallWork {
  /** The operation's name, without project and version. */
  readonly name: string;
  readonly id: string;
  /** UTC microseconds since 1970. */
  readonly startedAt: number;
  /** UTC microseconds since 1970. */
  readonly endedAt: number;
  readonly inputs: Readonly<Record<string, unknown>>;
  /** Null if it failed. */
  readonly output: unknown;
  /** Null, the default, if it did not fail. */
  readonly exception?: string | null;
  /** Empty by default. */
  readonly summary?: Readonly<Record<string, unknown>>;
}

/** UTC microseconds since 1970 as ISO 8601 with six decimals, which `Date` alone does not give. */
const microTime = (micros: number): string => {
  const millis = Math.floor(micros / 1000);
  return `${new Date(millis).toISOString().slice(0, -1)}${String(micros % 1000).padStart(3, '0')}Z`;
};

/**
 * An operation's reference, with 43 characters made from its name where a client has the digest of
 * its code.
 */
const opRef = (projectId: string, name: string): string =>
  `svc:///${projectId}/op/${name}:${Buffer.from(name).toString('hex').padEnd(43, '0').slice(0, 43)}`;

/** The call that did `work` at `place`; the turn's root call, known by its id, has no parent. */
export const tracedCall = (
  { projectId, conversation, thread, trace, turn }: CallPlace,
  { name, id, startedAt, endedAt, inputs, output, exception = null, summary = {} }: CallWork,
): TracedCall => ({
  start: {
    project_id: projectId,
    id,
    op_name: opRef(projectId, name),
    display_name: null,
    trace_id: trace,
    parent_id: id === turn ? null : turn,
    thread_id: thread,
    turn_id: turn,
    started_at: microTime(startedAt),
    attributes: { env: 'shop', conversation },
    inputs,
  },
  end: { project_id: projectId, id, ended_at: microTime(endedAt), output, exception, summary },
});
