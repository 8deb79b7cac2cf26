import { type CallRow, getAgent, getCallName } from '../../api/calls.ts';
import { getKind } from '../../api/kind.ts';

/** Errors that are alike: of the same operation, with the same message but for what varies. */
export interface CommonError {
  /** What failed: the tool, the model, the agent. */
  readonly name: string;
  /** The first line of the message of the latest. */
  readonly message: string;
  readonly count: number;
  /** The latest of the calls. */
  readonly latest: CallRow;
}

/** How much of a message is looked at. */
const longest = 300;

/** What differs from one failure to the next of the same kind: quoted values, ids, paths, numbers. */
const varying = /"[^"\n]{1,100}"|'[^'\n]{1,100}'|`[^`\n]{1,100}`|(?:\/[\w.@-]+){2,}|\b[\da-f]{8,}\b|\d+/gi;

/** A line that only says that a command failed: what it printed says why. */
const exitCode = /^(?:Error: )?exit code:? -?\d+$/i;

/** The line of an exception that says what it is: that of Python is its last. */
const messageOf = (exception: string): string => {
  const lines = exception
    .split('\n', 200)
    .map((line) => line.trim())
    .filter((line) => line !== '');
  const [first = '', second] = lines;
  if (/^Traceback \(most recent/.test(first)) return (lines.at(-1) ?? first).slice(0, longest);
  return (exitCode.test(first) && second ? `${first}: ${second}` : first).slice(0, longest);
};

/**
 * Puts errors together that are alike, the commonest first.
 *
 * @param calls calls that failed, the latest first
 */
export const groupErrors = (calls: readonly CallRow[]): CommonError[] => {
  const found = new Map<string, CommonError>();
  for (const call of calls) {
    const name = getCallName(call);
    const message = typeof call.exception === 'string' ? messageOf(call.exception) : '';
    const key = `${name}\n${message.replace(varying, '…')}`;
    const known = found.get(key);
    found.set(key, known ? { ...known, count: known.count + 1 } : { name, message, count: 1, latest: call });
  }
  return [...found.values()].sort((a, b) => b.count - a.count);
};

/** The nearest agent at or above a call; null outside of agents. Or the call above that has to be read to tell. */
export type AgentAbove = { readonly agent: string | null } | { readonly missing: string };

/** Finds the nearest agent among calls that are known, as the service does. Parents may form a circle. */
export const findAgent = (call: CallRow, byId: ReadonlyMap<string, CallRow>): AgentAbove => {
  const met = new Set<string>();
  for (let at = call; !met.has(at.id); ) {
    met.add(at.id);
    const own = getAgent(at) ?? (getKind(at) === 'agent' ? at.summary?.svc?.trace_name : undefined);
    if (own) return { agent: own };
    if (!at.parent_id) break;
    const above = byId.get(at.parent_id);
    if (!above) return { missing: at.parent_id };
    at = above;
  }
  return { agent: null };
};
