import { type Message, parseConversation } from '../../../api/shared/conversation.ts';
import type { CallRow } from '../../api/calls.ts';
import type { Request } from '../../api/contract.ts';
import { csvFields, csvLine } from '../../data/csv.ts';
import { isObject, jsonIn, parseToWrite } from '../../data/values.ts';
import { withoutBraces } from '../previews.ts';

/** A row of a dataset: any JSON object. */
export type Row = Request<'/table/create'>['table']['rows'][number];

/** The forms of files, with their names. */
export const forms = [
  ['jsonl', 'JSON Lines'],
  ['csv', 'CSV'],
] as const;

export type Form = (typeof forms)[number][0];

/** Puts a value at a dotted path of a row, which is changed. */
const put = (row: Record<string, unknown>, path: string, value: unknown): void => {
  const [first = '', ...rest] = path.split('.');
  if (rest.length === 0)
    Object.defineProperty(row, first, { value, enumerable: true, writable: true, configurable: true });
  else {
    const inner = Object.hasOwn(row, first) && isObject(row[first]) ? { ...row[first] } : {};
    put(inner, rest.join('.'), value);
    put(row, first, inner);
  }
};

/** The value that people typed, or that a field of CSV means: JSON as such, anything else as a text. */
export const meantBy = (field: string): unknown =>
  jsonIn(field) === undefined ? field : parseToWrite(field);

const csvRows = (text: string): Row[] => {
  const [columns = [], ...lines] = csvFields(text);
  return lines.map((fields, at) => {
    if (fields.length > columns.length)
      throw new Error(
        `Row ${at + 1} has ${fields.length} fields, and the first line names ${columns.length}.`,
      );
    const row: Record<string, unknown> = {};
    // A field without anything is not there: an empty text stands in quotes.
    for (const [column, field] of fields.entries())
      if (field !== '') put(row, columns[column] ?? '', meantBy(field));
    return row as Row;
  });
};

/**
 * The rows of a file, in JSON Lines or in CSV whose first line names dotted paths.
 *
 * @throws Error in words for people, with the line
 */
export const rowsIn = (text: string, form: Form): Row[] =>
  form === 'csv'
    ? csvRows(text)
    : text.split('\n').flatMap((line, at) => {
        if (line.trim() === '') return [];
        const row = jsonIn(line);
        if (!isObject(row)) throw new Error(`Line ${at + 1} is not a JSON object.`);
        return [parseToWrite(line) as Row];
      });

/** A value as it is typed: a text in quotes only if it would mean something else without. */
export const toTyped = (value: unknown): string =>
  typeof value === 'string' && value !== '' && jsonIn(value) === undefined
    ? value
    : JSON.stringify(value, null, 2);

/** Whether an object can be columns of its own, which are read back as the same object. */
const isFlat = (value: unknown): boolean =>
  isObject(value) && Object.keys(value).length > 0 && Object.keys(value).every((key) => !key.includes('.'));

const toField = (value: unknown): string => {
  if (value === undefined) return '';
  return typeof value === 'string' ? toTyped(value) : JSON.stringify(value);
};

/** Rows as a file. In CSV, fields of objects are columns such as `inputs.question`. */
export const toFile = (rows: readonly Row[], form: Form): string => {
  if (form === 'jsonl') return rows.map((row) => `${JSON.stringify(row)}\n`).join('');
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const columns = names.flatMap((name): (readonly [string, string?])[] => {
    const values = rows.flatMap((row) => (Object.hasOwn(row, name) ? [row[name]] : []));
    if (!values.every(isFlat)) return [[name]];
    return [...new Set(values.flatMap((value) => Object.keys(value as Row)))].map((key) => [name, key]);
  });
  const lines = rows.map((row) =>
    columns.map(([name, key]) => {
      const value = Object.hasOwn(row, name) ? row[name] : undefined;
      if (key === undefined) return toField(value);
      return toField(isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined);
    }),
  );
  const titles = columns.map((path) => path.join('.'));
  return [titles, ...lines].map((line) => `${csvLine(line)}\n`).join('');
};

/** The most rows and characters of a request that stores rows: with headroom below 6 MB of UTF-8. */
const maxRows = 2000;
const maxCharacters = 1_500_000;

/** Rows in portions that fit a request each. */
export const toPortions = (rows: readonly Row[]): Row[][] => {
  const portions: Row[][] = [];
  let room = 0;
  for (const row of rows) {
    const size = JSON.stringify(row).length;
    const last = portions.at(-1);
    if (last && last.length < maxRows && size <= room) last.push(row);
    else {
      portions.push([row]);
      room = maxCharacters;
    }
    room -= size;
  }
  return portions;
};

/** A row as it is stored, with the digest that names it. */
export interface StoredRow {
  readonly digest: string;
  readonly val: Row;
}

/** The rows that only one of two versions has, a row that it has several times as often. */
export const compareRows = (before: readonly StoredRow[], after: readonly StoredRow[]) => {
  const only = (rows: readonly StoredRow[], others: readonly StoredRow[]): Row[] => {
    const counts = new Map<string, number>();
    for (const { digest } of others) counts.set(digest, (counts.get(digest) ?? 0) + 1);
    return rows.flatMap(({ digest, val }) => {
      const left = counts.get(digest) ?? 0;
      counts.set(digest, left - 1);
      return left > 0 ? [] : [val];
    });
  };
  return { removed: only(before, after), added: only(after, before) };
};

/**
 * The row that a call becomes: what it got, what it answered as what is expected, and its ref. Nothing is expected
 * of one that answered nothing, such as a call that failed.
 */
export const rowOfCall = ({ project_id, id, inputs, output }: CallRow): Row =>
  ({
    inputs: inputs ?? {},
    ...(output !== null && output !== undefined && { expected: output as Row[string] }),
    source: `svc:///${project_id}/call/${id}`,
  }) as Row;

/** The project and the id of the call that a row was taken from; undefined if it names none. */
export const getSource = ({ source }: Row): { readonly project: string; readonly id: string } | undefined => {
  const ref = typeof source === 'string' ? /^\w+:\/\/\/([^/]+\/[^/]+)\/call\/(.+)$/.exec(source) : null;
  const [, project, id] = ref ?? [];
  return project !== undefined && id !== undefined ? { project, id } : undefined;
};

/** The text of a message that has one. */
const textOf = ({ parts }: Message): string | undefined =>
  parts.flatMap((part) => (part.kind === 'text' && part.text.trim() !== '' ? [part.text] : [])).join(' ') ||
  undefined;

/** What a value says that is a conversation, or a message: the last words of its user, else its last words. */
const saidIn = (value: unknown): string | undefined => {
  const isMessage = isObject(value) && typeof value.role === 'string' && 'content' in value;
  const inputs = Array.isArray(value) ? { messages: value } : isMessage ? { messages: [value] } : value;
  const sent = parseConversation({ inputs, output: null })?.sent ?? [];
  const spoken = sent.filter((message) => textOf(message) !== undefined);
  const last = spoken.findLast(({ role }) => role === 'user') ?? spoken.at(-1);
  return last && textOf(last);
};

/**
 * A value in one line: a text as it is, the only field of an object as that, of a conversation what its user
 * said last, and other objects of a few fields as people would write them down.
 */
export const toLine = (value: unknown): string => {
  if (typeof value === 'string') return value.slice(0, 300);
  if (value === undefined) return '';
  const fields = isObject(value) ? Object.values(value) : [];
  if (fields.length === 1 && typeof fields[0] === 'string') return toLine(fields[0]);
  return (saidIn(value) ?? withoutBraces(JSON.stringify(value))).slice(0, 300);
};
