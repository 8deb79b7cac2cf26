import { filePath } from '../../../api/shared/conversation.ts';
import {
  type CallRow,
  type Cost,
  getAgent,
  getCallName,
  getDuration,
  getStatus,
  getTool,
  getWait,
  sumUsage,
  type Usage,
  usageByModel,
} from '../../api/calls.ts';
import { asString, isObject, jsonIn } from '../../data/values.ts';
import { diffTexts } from '../../ui/diff.ts';

/* What a coding agent did in a thread: who cost what, which files were written, which commands failed. */

/** Tools that write files, and those that run commands, as Claude Code, Codex and Gemini CLI call them. */
const writing = /^(?:Edit|MultiEdit|Write|NotebookEdit|apply_patch|replace|write_file|str_replace_.*)$/;
const running = /^(?:Bash|shell|exec_command|local_shell|run_shell_command|unified_exec)$/;

const isTool =
  (names: RegExp) =>
  (call: CallRow): boolean =>
    names.test(getTool(call) ?? '');

/** Whether a call may write a file. Codex patches files by a command, too. */
export const isWriting = (call: CallRow): boolean => isTool(writing)(call) || isTool(running)(call);

const hasFailed = (call: CallRow): boolean => getStatus(call) === 'error';

/** Commands that failed. */
export const failedCommands = (calls: readonly CallRow[]): CallRow[] =>
  calls.filter((call) => isTool(running)(call) && hasFailed(call));

/** What an agent of a session did and cost, with what its sub-agents did left out. */
export interface AgentShare {
  /** Null for what is outside of agents. */
  readonly name: string | null;
  readonly requests: number;
  readonly tools: number;
  readonly errors: number;
  readonly tokens: number;
  readonly cost: Cost | undefined;
}

/** What a tool of a session did. */
export interface ToolShare {
  readonly name: string;
  readonly calls: number;
  readonly errors: number;
  /** How long its calls took together, and for how long of that they waited for a person, in ms. */
  readonly ms: number;
  readonly waitedMs: number;
  /** What was used below its calls: by the sub-agents that it started. */
  readonly cost: Cost | undefined;
}

/** What a call used itself. */
const usedBy = (call: CallRow): Usage[] => [...usageByModel(call).values()];

/** The nearest call at or above one that has something; undefined for none. Parents may form a circle. */
const nearest = <Found>(
  call: CallRow,
  byId: ReadonlyMap<string, CallRow>,
  find: (call: CallRow) => Found | undefined,
): Found | undefined => {
  const met = new Set<string>();
  for (let at: CallRow | undefined = call; at && !met.has(at.id); at = byId.get(at.parent_id ?? '')) {
    met.add(at.id);
    const found = find(at);
    if (found !== undefined) return found;
  }
  return undefined;
};

/** The agents of a session, the dearest first. */
export const agentShares = (calls: readonly CallRow[]): AgentShare[] => {
  const byId = new Map(calls.map((call) => [call.id, call]));
  const groups = Map.groupBy(calls, (call) => nearest(call, byId, getAgent) ?? null);
  return [...groups]
    .map(([name, own]): AgentShare => {
      const used = own.flatMap(usedBy);
      const total = sumUsage(used);
      return {
        name,
        requests: own.filter((call) => usedBy(call).length > 0).length,
        tools: own.filter((call) => getTool(call) !== undefined).length,
        errors: own.filter(hasFailed).length,
        tokens: total?.total ?? 0,
        cost: total?.cost,
      };
    })
    .sort((a, b) => amountOf(b.cost) - amountOf(a.cost) || b.tokens - a.tokens);
};

/** The tools of a session, the one that was called most often first. */
export const toolShares = (calls: readonly CallRow[]): ToolShare[] => {
  const byId = new Map(calls.map((call) => [call.id, call]));
  const below = Map.groupBy(calls, (call) => nearest(call, byId, getTool));
  const groups = Map.groupBy(
    calls.filter((call) => getTool(call) !== undefined),
    getTool,
  );
  return [...groups]
    .flatMap(([name, own]): ToolShare[] => {
      if (name === undefined) return [];
      const took = own.map(getDuration).filter((ms) => !Number.isNaN(ms));
      const waits = own.map(getWait).filter((wait) => typeof wait === 'number');
      return [
        {
          name,
          calls: own.length,
          errors: own.filter(hasFailed).length,
          ms: took.reduce((sum, ms) => sum + ms, 0),
          waitedMs: waits.reduce((sum, ms) => sum + ms, 0),
          cost: sumUsage((below.get(name) ?? []).flatMap(usedBy))?.cost,
        },
      ];
    })
    .sort((a, b) => b.calls - a.calls);
};

const amountOf = (cost: Cost | undefined): number =>
  [...(cost?.values() ?? [])].reduce((sum, one) => sum + one, 0);

/** A change to a file, as a call of a tool tells it. */
interface FileEdit {
  readonly path: string;
  readonly added: number;
  readonly removed: number;
  /** Whether there may be more: telemetry cuts long arguments. */
  readonly isCut: boolean;
}

/** How telemetry ends what it cuts. */
const cut = /(?:…|\.\.\.|\[truncated[^\]\n]{0,80}\])$/i;

const countLines = (text: string): number => (text === '' ? 0 : text.replace(/\n$/, '').split('\n').length);

/** The lines of a text that took the place of another. */
const countEdit = (before: string, after: string): Omit<FileEdit, 'path'> => {
  const isCut = cut.test(before) || cut.test(after);
  const lines = before === '' || after === '' ? undefined : diffTexts(before, after);
  if (!lines) return { added: countLines(after), removed: countLines(before), isCut };
  return {
    added: lines.filter(({ kind }) => kind === 'added').length,
    removed: lines.filter(({ kind }) => kind === 'removed').length,
    isCut,
  };
};

/** The files of a patch in the form that Codex writes. */
const editsOfPatch = (patch: string): FileEdit[] => {
  const edits: { path: string; added: number; removed: number; isCut: boolean }[] = [];
  const isCut = cut.test(patch);
  for (const line of patch.split('\n')) {
    const [, path] = /^\*\*\* (?:Add|Update|Delete) File: (.+)$/.exec(line) ?? [];
    const last = edits.at(-1);
    if (path !== undefined) edits.push({ path: path.trim(), added: 0, removed: 0, isCut });
    else if (last && line.startsWith('+')) last.added++;
    else if (last && line.startsWith('-')) last.removed++;
  }
  return edits;
};

/** A patch within what a tool takes: as its own argument, or as a part of a command. */
const findPatch = (inputs: Readonly<Record<string, unknown>>): string | undefined =>
  [inputs.input, inputs.patch, inputs.command, inputs.cmd]
    .flat()
    .map(asString)
    .find((text) => text?.includes('*** Begin Patch'));

/** What a call of a tool changed in files, by what it took; nothing if it failed. */
export const editsIn = (call: CallRow): FileEdit[] => {
  if (hasFailed(call)) return [];
  const inputs = typeof call.inputs === 'string' ? jsonIn(call.inputs) : call.inputs;
  if (!isObject(inputs)) return [];
  const patch = findPatch(inputs);
  if (patch !== undefined) return editsOfPatch(patch);
  const path = filePath(inputs);
  if (path === undefined || !isTool(writing)(call)) return [];
  const edits = Array.isArray(inputs.edits) ? inputs.edits.filter(isObject) : [inputs];
  return edits.map((edit) => {
    const before = asString(edit.old_string ?? edit.old_str) ?? '';
    const after =
      asString(edit.new_string ?? edit.new_str ?? edit.content ?? edit.file_text ?? edit.new_source) ?? '';
    return { path, ...countEdit(before, after) };
  });
};

/** A file that was written, with the lines that were added and removed by all edits. */
export interface WrittenFile extends FileEdit {
  readonly edits: number;
}

/** The files that calls wrote, in the order in which they were first written. */
export const writtenFiles = (calls: readonly CallRow[]): WrittenFile[] =>
  [...Map.groupBy(calls.flatMap(editsIn), ({ path }) => path)].map(([path, edits]) => ({
    path,
    edits: edits.length,
    added: edits.reduce((sum, { added }) => sum + added, 0),
    removed: edits.reduce((sum, { removed }) => sum + removed, 0),
    isCut: edits.some(({ isCut }) => isCut),
  }));

/** The command that a call ran; its name if that is not known. */
export const commandOf = (call: CallRow): string => {
  const { inputs } = call;
  const command = isObject(inputs) ? (inputs.command ?? inputs.cmd) : undefined;
  if (Array.isArray(command)) return command.filter((word) => typeof word === 'string').join(' ');
  return asString(command) ?? getCallName(call);
};
