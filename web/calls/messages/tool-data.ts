import { filePath } from '../../../api/shared/conversation.ts';
import { asString, isObject } from '../../data/values.ts';

/** A task of an agent's list. */
export interface Task {
  readonly text: string;
  readonly state: 'done' | 'doing' | 'open';
}

/** A piece of what a tool takes or gives, as a reader would want to see it. */
export type ToolBlock =
  | { readonly kind: 'command'; readonly command: string }
  | { readonly kind: 'diff'; readonly before: string; readonly after: string }
  | {
      readonly kind: 'code';
      readonly text: string;
      /** @default - none that is known */
      readonly language?: string;
      /** The number of its first line. @default 1 */
      readonly firstLine?: number;
    }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'tasks'; readonly tasks: readonly Task[] }
  | { readonly kind: 'table'; readonly columns: readonly string[]; readonly rows: readonly Fields[] }
  | { readonly kind: 'data'; readonly value: unknown };

type Fields = Readonly<Record<string, unknown>>;

/** What files are written in, where the end of their name is not the name of the language. */
const languages: Readonly<Record<string, string>> = {
  h: 'c',
  html: 'xml',
  jsonl: 'json',
  mdx: 'markdown',
  patch: 'diff',
  svg: 'xml',
  toml: 'ini',
  vue: 'xml',
  zsh: 'bash',
};

/** The language of a file by its name; undefined for a name without an end. */
export const languageOf = (path: string | undefined): string | undefined => {
  const end = /\.(\w+)$/.exec(path ?? '')?.[1]?.toLowerCase();
  return end === undefined ? undefined : (languages[end] ?? end);
};

const isPatch = (text: string): boolean =>
  /^(?:diff --git |\*\*\* Begin Patch|--- .+\n\+\+\+ )/m.test(text) || /^@@ .*@@/m.test(text);

/** How many lines are looked at: a file begins as it goes on. */
const lookedAt = 60;

/** Lines that prose does not have: indented, or ending in what closes a statement or opens a block. */
const codeLine = /^(?:\s{2,}|\t)\S|[{};]$|^\s*(?:\/\/|#!|<\/?\w[^>]*>$)|^[drwx-]{10}\s/;

/** Whether a text of several lines looks like code, a listing or a log, and not like prose. */
export const isCodeLike = (text: string): boolean => {
  const lines = text.split('\n', lookedAt).filter((line) => line.trim() !== '');
  return lines.length >= 2 && lines.filter((line) => codeLine.test(line)).length * 3 >= lines.length;
};

/** Lines with their numbers, as tools that read files give them: `    12→text` or `12<tab>text`. */
const numbered = /^ *(\d+)(?:→|\t)(.*)$/;

/** The code in a text whose lines all have numbers, one after the other. */
const withoutNumbers = (text: string): Extract<ToolBlock, { kind: 'code' }> | undefined => {
  const found = text
    .replace(/\n+$/, '')
    .split('\n')
    .map((line) => numbered.exec(line));
  const firstLine = Number(found[0]?.[1]);
  if (!found.every((match, at) => match && Number(match[1]) === firstLine + at)) return undefined;
  return { kind: 'code', text: found.map((match) => match?.[2] ?? '').join('\n'), firstLine };
};

const toBlock = (text: string, language: string | undefined): ToolBlock => {
  const code = withoutNumbers(text);
  if (code) return { ...code, ...(language !== undefined && { language }) };
  if (isPatch(text)) return { kind: 'code', text, language: 'diff' };
  if (language !== undefined && text.includes('\n')) return { kind: 'code', text, language };
  return isCodeLike(text) ? { kind: 'code', text } : { kind: 'text', text };
};

const stateOf = (status: unknown): Task['state'] => {
  if (status === 'completed' || status === 'done') return 'done';
  return status === 'in_progress' ? 'doing' : 'open';
};

/** The tasks of Claude Code's `todos` or Codex' `plan`; undefined for any other value. */
const toTasks = (value: unknown): readonly Task[] | undefined => {
  if (!Array.isArray(value) || value.length === 0) return undefined;
  const tasks = value.map((task) => {
    if (!isObject(task) || typeof task.status !== 'string') return undefined;
    const text = asString(task.content) ?? asString(task.step) ?? asString(task.title);
    return text === undefined ? undefined : { text, state: stateOf(task.status) };
  });
  return tasks.every((task) => task !== undefined) ? tasks : undefined;
};

/** The command of a shell: a text, or what Codex gives to one, such as `["bash", "-lc", "ls"]`. */
const toCommand = (value: unknown): string | undefined => {
  if (typeof value === 'string') return value;
  if (!Array.isArray(value) || !value.every((word) => typeof word === 'string')) return undefined;
  const [shell = '', option = '', script] = value;
  const isScript = value.length === 3 && /(?:^|\/)(?:ba|z)?sh$/.test(shell) && /^-\w*c$/.test(option);
  return isScript ? script : value.join(' ');
};

const isScalar = (value: unknown): boolean =>
  value === null || typeof value === 'number' || typeof value === 'boolean' || typeof value === 'string';

/** A table is read at a glance: wider and longer values are data. */
const mostColumns = 6;
const mostRows = 50;
const longestCell = 80;

const toTable = (value: unknown): Extract<ToolBlock, { kind: 'table' }> | undefined => {
  if (!Array.isArray(value) || value.length < 2 || value.length > mostRows) return undefined;
  const rows = value.filter(isObject);
  const columns = Object.keys(rows[0] ?? {});
  const isFlat = (row: Fields) =>
    Object.keys(row).length === columns.length &&
    columns.every(
      (name) => Object.hasOwn(row, name) && isScalar(row[name]) && String(row[name]).length <= longestCell,
    );
  const fits = columns.length >= 2 && columns.length <= mostColumns;
  return fits && rows.length === value.length && rows.every(isFlat)
    ? { kind: 'table', columns, rows }
    : undefined;
};

/** The two texts of an edit, in the names of Claude Code and of Anthropic's text editor. */
const toDiff = (fields: Fields): ToolBlock | undefined => {
  const before = asString(fields.old_string ?? fields.old_str);
  const after = asString(fields.new_string ?? fields.new_str);
  return before === undefined || after === undefined ? undefined : { kind: 'diff', before, after };
};

/** The diffs of one edit, or of several. */
const toDiffs = (fields: Fields): ToolBlock[] => {
  const edits = Array.isArray(fields.edits) ? fields.edits : [fields];
  const diffs = edits.map((edit) => (isObject(edit) ? toDiff(edit) : undefined));
  return diffs.every((diff) => diff !== undefined) ? diffs : [];
};

const editNames = ['old_string', 'old_str', 'new_string', 'new_str', 'edits'];
const shellNames = ['command', 'cmd'];
const taskNames = ['todos', 'plan'];
const textNames = ['content', 'file_text', 'code', 'patch', 'input', 'script', 'stdout', 'stderr', 'output'];

/** The block of a field of many lines, or of one that says what it is by its name; undefined for others. */
const fieldBlock = (name: string, value: unknown, path: string | undefined): ToolBlock | undefined => {
  if (taskNames.includes(name)) {
    const tasks = toTasks(value);
    return tasks && { kind: 'tasks', tasks };
  }
  if (shellNames.includes(name) && path === undefined) {
    const command = toCommand(value);
    return command === undefined ? undefined : { kind: 'command', command };
  }
  if (typeof value !== 'string' || !value.includes('\n')) return undefined;
  if (name === 'query' || name === 'sql')
    return /^\s*(?:select|with|insert|update|delete)\b/i.test(value)
      ? { kind: 'code', text: value, language: 'sql' }
      : undefined;
  return textNames.includes(name) ? toBlock(value, languageOf(path)) : undefined;
};

/**
 * Takes apart what a tool takes or gives: edits as diffs, commands, files as code, lists of tasks, tables.
 * What has no shape of its own is data, and nothing is left out.
 *
 * @param path the file that it is about, if that is known from elsewhere
 */
export const parseToolData = (value: unknown, path?: string): ToolBlock[] => {
  if (typeof value === 'string') return [toBlock(value, languageOf(path))];
  const table = toTable(value);
  if (table) return [table];
  if (!isObject(value)) return [{ kind: 'data', value }];
  const file = filePath(value) ?? path;
  const diffs = toDiffs(value);
  const rest: [string, unknown][] = [];
  const blocks: ToolBlock[] = [];
  for (const [name, member] of Object.entries(value)) {
    if (diffs.length > 0 && editNames.includes(name)) continue;
    const block = fieldBlock(name, member, file);
    if (block) blocks.push(block);
    else rest.push([name, member]);
  }
  const data: ToolBlock[] =
    rest.length > 0 || blocks.length + diffs.length === 0
      ? [{ kind: 'data', value: Object.fromEntries(rest) }]
      : [];
  return [...data, ...diffs, ...blocks];
};
