/** The calls of `agent-traces.ts` as the service accepts them. */

/** The start and end of a call as `/call/upsert_batch` accepts them. */
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

/** The project, conversation and turn of a call. */
export interface CallContext {
  /** `<entity>/<project>`. */
  readonly projectId: string;
  /** The number of the conversation, from 0. */
  readonly conversation: number;
  readonly thread: string;
  readonly trace: string;
  /** The id of the turn's root call, which is the parent of every other call of the turn. */
  readonly turn: string;
}

/** What a call did and when. */
export interface CallWork {
  /** The name of the operation, without project and version. */
  readonly name: string;
  readonly id: string;
  /** UTC microseconds since 1970. */
  readonly startedAt: number;
  /** UTC microseconds since 1970. */
  readonly endedAt: number;
  readonly inputs: Readonly<Record<string, unknown>>;
  /** Null if the call failed. */
  readonly output: unknown;
  /** Null by default: the call succeeded. */
  readonly exception?: string | null;
  /** Empty by default. */
  readonly summary?: Readonly<Record<string, unknown>>;
}

/** Formats UTC microseconds since 1970 as ISO 8601 with six decimals; `Date` has only three. */
const microTime = (micros: number): string => {
  const millis = Math.floor(micros / 1000);
  return `${new Date(millis).toISOString().slice(0, -1)}${String(micros % 1000).padStart(3, '0')}Z`;
};

/**
 * The ref of an operation. A client puts the digest of its code at the end; here 43 characters come
 * from the name.
 */
const opRef = (projectId: string, name: string): string =>
  `svc:///${projectId}/op/${name}:${Buffer.from(name).toString('hex').padEnd(43, '0').slice(0, 43)}`;

/** Makes the call that did `work` in `context`. The turn's root call has no parent. */
export const tracedCall = (
  { projectId, conversation, thread, trace, turn }: CallContext,
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
