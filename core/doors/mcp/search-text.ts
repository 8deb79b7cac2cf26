import { searchText as description, searched } from '../../../api/tools.ts';
import { type Expression, toPath } from '../../../foundations/expression/index.ts';
import { asString } from '../../../foundations/wire/index.ts';
import { type Call, headerColumns, newestFirst, readCalls, saying, toTable } from './calls.ts';
import { runs } from './context.ts';
import { toWord } from './mend.ts';
import { checkNames, readable, withKnownOps } from './names.ts';
import { goesOn, isNamed, parseCursor, toRange, usualRange, within } from './range.ts';
import { fitted, type Json, type JsonFields } from './reply.ts';
import { valueIn } from './values.ts';

/** How far a search without a start looks back: seven days. */
const usualSpan = 7 * 86_400e6;

/** How many hits of a call are shown. */
const maxHits = 3;

/** The characters that are shown before and after a hit at most. */
const lead = 120;
const trail = 200;

/** Where a sentence ends. */
const sentenceEnd = /[.!?。！？](?=\s|$)|\n/g;

/** The sentence around a part of a text, with an ellipsis where it goes on. */
export const sentenceAround = (text: string, from: number, length: number): string => {
  const first = Math.max(0, from - lead);
  const last = Math.min(text.length, from + length + trail);
  const before = [...text.slice(first, from).matchAll(sentenceEnd)].at(-1);
  const begin = before ? first + before.index + before[0].length : first;
  sentenceEnd.lastIndex = 0;
  const after = sentenceEnd.exec(text.slice(from + length, last));
  sentenceEnd.lastIndex = 0;
  const end = after ? from + length + after.index + after[0].length : last;
  const sentence = text.slice(begin, end).toWellFormed().trim();
  return `${before || begin === 0 ? '' : '…'}${sentence}${after || end === text.length ? '' : '…'}`;
};

/** A place of a call that has the text. */
interface Hit {
  readonly path: string;
  readonly text: string;
}

/** The first places of a value that have a text: in its texts, else in their names, else anywhere in its JSON. */
const findHits = (
  value: Json | undefined,
  path: string,
  find: (text: string) => number,
  length: number,
): Hit[] => {
  const hits: Hit[] = [];
  const stack: [Json, string][] = value === undefined || value === null ? [] : [[value, path]];
  for (let next = stack.pop(); next && hits.length < maxHits; next = stack.pop()) {
    const [at, where] = next;
    if (typeof at === 'object' && at !== null) {
      const entries = Array.isArray(at) ? [...at.entries()] : Object.entries(at);
      for (const [name, child] of entries.toReversed()) {
        if (child !== undefined && child !== null) stack.push([child, `${where}.${name}`]);
        if (typeof name === 'string' && find(name) >= 0) hits.push({ path: `${where}.${name}`, text: name });
      }
      continue;
    }
    const text = String(at);
    const from = find(text);
    if (from >= 0) hits.push({ path: where, text: sentenceAround(text, from, length) });
  }
  if (hits.length > 0 || value === undefined) return hits.slice(0, maxHits);
  const json = JSON.stringify(value);
  const from = find(json);
  return from < 0 ? [] : [{ path, text: sentenceAround(json, from, length) }];
};

/** A text in each form of Unicode, and what that is inside of JSON, if these are others. */
const variants = (text: string): string[] => [
  ...new Set(
    [text, text.normalize('NFC'), text.normalize('NFD')].flatMap((form) => [
      form,
      JSON.stringify(form).slice(1, -1),
    ]),
  ),
];

export const searchText = runs(description, async (args, context) => {
  const { projectId, text, caseSensitive, limit, cursor, maxCharacters } = args;
  const { links, now } = context;
  const isWithoutRange = isNamed(args.filter) && args.start === null && args.end === null;
  const { start, end, offset } =
    cursor === null
      ? { ...(isWithoutRange ? { start: null, end: null } : toRange(args, now, usualSpan)), offset: 0 }
      : parseCursor(cursor);
  const range = { start, end };
  const filter = await withKnownOps(context, projectId, args.filter, range);
  const fields = args.fields ?? searched;
  const has = (field: string, substr: string, caseInsensitive: boolean): Expression => ({
    kind: 'contains',
    input: { kind: 'convert', input: { kind: 'field', path: toPath(field) }, to: 'string' },
    substr: { kind: 'literal', value: substr },
    caseInsensitive,
  });
  const hasText = (wanted: string, isFolded = true): Expression => ({
    kind: 'or',
    operands: fields.flatMap((field) => variants(wanted).map((substr) => has(field, substr, isFolded))),
  });
  const condition = args.where && readable(args.where);
  const and = (...operands: Expression[]): Expression => ({
    kind: 'and',
    operands: [...operands, ...(condition ? [condition] : [])],
  });
  const where = and(hasText(text, !caseSensitive));
  const folded = (value: string): string => (caseSensitive ? value : value.toLowerCase());
  const wanted = variants(folded(text));
  const find = (value: string): number => {
    const inValue = folded(value);
    return Math.max(...wanted.map((variant) => inValue.indexOf(variant)));
  };
  const found = await readCalls(
    context,
    {
      projectId,
      filter,
      where: within(range, where),
      sort: newestFirst,
      offset,
      limit: limit + 1,
      columns: [...headerColumns, ...fields],
    },
    (call): { readonly call: Call; readonly hits: readonly Hit[] } => ({
      call: {
        ...call,
        inputs: null,
        output: null,
        exception: null,
        attributes: {
          user: { id: valueIn(call, 'attributes.user.id') },
          release: valueIn(call, 'attributes.release'),
        },
      },
      hits: fields.flatMap((field) => findHits(call[field], field, find, text.length)).slice(0, maxHits),
    }),
  );
  const notes: string[] = [];
  if (found.length === 0 && offset === 0) {
    notes.push(...(await checkNames(context, { projectId, filter, where: args.where, range }, true)));
    // The words of the text, or what a pattern has between its signs.
    const words = [...new Set(text.match(/[\p{L}\p{N}_-]{2,}/gu))].slice(0, 6);
    if (notes.length === 0 && words.length > 0 && (caseSensitive || words[0] !== text)) {
      const all = within(range, and(...words.map((word) => hasText(word))));
      const query = { projectId, filter, where: all, sort: newestFirst, limit: 1, columns: [] };
      const [near] = await readCalls(context, query);
      notes.push(
        near
          ? `no call has the text word for word, and it is no pattern; ${toWord(String(near.id))} has ${words.map((word) => `\`${word}\``).join(', ')}`
          : 'no call has the text, nor all of its words',
      );
    }
  }
  const shown = found.slice(0, limit);
  return fitted(maxCharacters, shown.length, (count) => {
    const rows = toRows(shown.slice(0, count));
    const words = `calls before these ${count}: search_text with the cursor`;
    const more = found.length > count ? goesOn(words, count, { start, end, offset }) : {};
    return {
      hits: toTable(rows, saying(hitColumns, rows)),
      ...usualRange(args, { start, end }),
      ...(rows.length > 0 && { url_of_call: links.anyCall(projectId, '{trace_id}', '{call_id}') }),
      ...(notes.length > 0 && { notes }),
      ...more,
    };
  });
});

const hitColumns = [
  'call_id',
  'trace_id',
  'thread_id',
  'end_user',
  'release',
  'started_at',
  'op_name',
  'path',
  'text',
  'also_in',
];

/** How many traces of calls that repeat a sentence are named. */
const maxTraces = 5;

/** A sentence that calls of one conversation have: the newest call with it, and the others. */
interface Repeated {
  readonly row: JsonFields;
  readonly calls: Set<string>;
  readonly traces: Set<string>;
}

/** What other calls have the sentence of a row, in words. */
const others = ({ row, calls, traces }: Repeated): string => {
  const elsewhere = [...traces].filter((trace) => trace !== row.trace_id);
  const more = elsewhere.length > maxTraces ? ` and ${elsewhere.length - maxTraces} more` : '';
  const where =
    elsewhere.length === 0
      ? 'of this trace'
      : `of this thread, also in trace${elsewhere.length > 1 ? 's' : ''} ${elsewhere.slice(0, maxTraces).map(toWord).join(', ')}${more}`;
  return `${calls.size - 1} more call${calls.size > 2 ? 's' : ''} ${where}`;
};

/**
 * A row for each different sentence of a conversation, with how many of its other calls repeat it. What
 * another conversation has of the same is another row: it may have led to another answer.
 */
const toRows = (found: readonly { readonly call: Call; readonly hits: readonly Hit[] }[]): JsonFields[] => {
  const bySentence = new Map<string, Repeated>();
  for (const { call, hits } of found) {
    const id = asString(call.id) ?? '';
    const trace = asString(call.trace_id) ?? '';
    for (const { path, text } of hits) {
      const key = JSON.stringify([call.thread_id ?? trace, text]);
      const known = bySentence.get(key) ?? {
        calls: new Set(),
        traces: new Set(),
        row: {
          call_id: id,
          trace_id: trace,
          thread_id: call.thread_id,
          end_user: valueIn(call, 'attributes.user.id'),
          release: valueIn(call, 'attributes.release'),
          started_at: call.started_at,
          op_name: call.op_name,
          path,
          text,
        },
      };
      bySentence.set(key, known);
      known.calls.add(id);
      known.traces.add(trace);
    }
  }
  return [...bySentence.values()].map((repeated) => ({
    ...repeated.row,
    ...(repeated.calls.size > 1 && { also_in: others(repeated) }),
  }));
};
