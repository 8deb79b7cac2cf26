import type { CallRow } from '../../api/calls.ts';
import type { Client } from '../../api/client.ts';
import { textColumns } from '../../calls/list/request.ts';
import type { Seen } from '../../calls/list/sight.ts';
import { jsonIn } from '../../data/values.ts';

/** A place where a text was found: what stands before it, it as it stands there, and what follows. */
export interface Hit {
  readonly before: string;
  readonly found: string;
  readonly after: string;
}

/** How much of a text stands around a hit, in characters. */
const lengthBefore = 48;
const lengthAfter = 160;

/** Markdown's signs around words, and before the words of a line. */
const marks = /\*\*|__|`+|^ {0,3}(?:#{1,6}|>) /gm;

/** Where a text has another one: without signs of Markdown, unless these are what is looked for. */
const hitIn = (whole: string, sought: string): Hit | undefined => {
  const plain = whole.replace(marks, '');
  const text = plain.toLowerCase().includes(sought) ? plain : whole;
  const at = text.toLowerCase().indexOf(sought);
  if (at < 0) return undefined;
  const from = Math.max(0, at - lengthBefore);
  const end = at + sought.length;
  const line = (part: string) => part.replace(/\s+/g, ' ');
  return {
    before: `${from > 0 ? '…' : ''}${line(text.slice(from, at)).trimStart()}`,
    found: line(text.slice(at, end)),
    after: line(text.slice(end, end + lengthAfter)),
  };
};

/** The texts in a value, and its keys, the last first: what is new in a conversation stands at its end. */
function* textsIn(value: unknown): Generator<string> {
  const waiting: unknown[] = [value];
  while (waiting.length > 0) {
    const next = waiting.pop();
    if (typeof next === 'string') {
      // What tools give is often JSON as a text: the texts in it come first.
      const inner = /^\s*[[{]/.test(next) ? jsonIn(next) : undefined;
      if (inner !== undefined) yield* textsIn(inner);
      yield next;
    } else if (typeof next === 'number' || typeof next === 'boolean') yield String(next);
    else if (Array.isArray(next)) for (const item of next) waiting.push(item);
    else if (typeof next === 'object' && next !== null)
      for (const [key, item] of Object.entries(next)) waiting.push(key, item);
  }
}

/** The parts of a call in the order in which they tell most. Tools are the same in every request. */
function* listParts({ inputs, output, exception }: Searched): Generator<unknown> {
  yield exception;
  yield output;
  const { tools, ...others } = inputs ?? {};
  yield others;
  yield tools;
}

type Searched = Pick<CallRow, (typeof textColumns)[number]>;

/**
 * Where a call has a text that the service found in it: in its exception, its output or its inputs.
 * A text that goes over several values of JSON is found in none.
 */
export const findHit = (call: Searched, sought: string): Hit | undefined => {
  const lower = sought.toLowerCase();
  for (const part of listParts(call))
    for (const text of textsIn(part)) {
      const hit = hitIn(text, lower);
      if (hit) return hit;
    }
  return undefined;
};

/** Where calls have a text, by their ids. Their payloads are read for it. */
export const readHits = async (
  client: Client,
  project: string,
  calls: readonly Seen[],
  sought: string,
  signal: AbortSignal,
): Promise<Map<string, Hit>> => {
  const hits = new Map<string, Hit>();
  const request = {
    project_id: project,
    filter: { call_ids: calls.map(({ id }) => id) },
    columns: [...textColumns],
  };
  for await (const batch of client.stream('/calls/stream_query', request, signal))
    for (const call of batch) {
      const hit = findHit(call, sought);
      if (hit) hits.set(call.id, hit);
    }
  return hits;
};
