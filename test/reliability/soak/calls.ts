import { callReads, end, forBucket, noise, report, start } from '../../support/endpoints/scenario.ts';
import { spanExport } from '../../support/otel/otel.ts';
import type { Answer } from '../../support/service/in-process.ts';
import type { Random } from '../../support/values/random.ts';
import type { Client } from './client.ts';
import { Slots } from './slots.ts';

/** One client's calls, and what it knows of them: of starts and of ends. */
export interface CallsModel {
  /** Does one request of some kind. */
  act(): Promise<void>;
  /** Looks at a call as a reader got it; throws where that cannot be. */
  see(id: string, call: Record<string, unknown> | null): void;
  /** Every id that was ever reported. */
  readonly ids: () => string[];
  /** Deletes all that is there. */
  clear(): Promise<void>;
}

type Call = Record<string, unknown>;

/** A payload: mostly small, sometimes a segment of its own, seldom an object in the bucket. */
const payload = (random: Random): string => {
  const size = random.chance(0.01) ? forBucket : random.chance(0.1) ? 8000 : 30 + random.below(400);
  return noise(size, `${random.next()}`);
};

/** What tells one start from another, and one end: by that they are known in the model. */
const startText = (call: Call): string =>
  JSON.stringify([call.op_name, call.display_name, call.trace_id, call.started_at, call.inputs]);
const endText = (call: Call): string => JSON.stringify([call.ended_at, call.exception, call.output]);

/**
 * Reports, changes, reads and deletes calls of one client in a project that it shares with others.
 */
export const callsModel = (client: Client, random: Random, project: string, name: string): CallsModel => {
  const starts = new Slots();
  const ends = new Slots();
  let made = 0;

  const idToUse = (): string =>
    (random.chance(0.4) && random.pick(starts.names)) || `${name}-${String(made++)}`;
  const newStart = (id: string) => {
    const fields = {
      op_name: `op ${random.below(5)}`,
      display_name: null,
      trace_id: `${name} ${random.below(20)}`,
      started_at: `2026-10-01T00:${String(random.below(60)).padStart(2, '0')}:00.000000Z`,
      inputs: { text: payload(random) },
      thread_id: random.chance(0.5) ? `${name} thread` : null,
      turn_id: id,
    };
    return { item: start(project, id, fields), text: startText(fields) };
  };
  const newEnd = (id: string) => {
    const exception = random.chance(0.2) ? 'it failed' : null;
    const fields = { ended_at: '2026-10-01T02:00:00.000000Z', exception, output: { text: payload(random) } };
    return { item: end(project, id, fields), text: endText(fields) };
  };
  const note = (slots: Slots, id: string, text: string | undefined, answer: Answer | undefined) =>
    answer ? slots.acknowledge(id, text) : slots.doubt(id, text);

  const batch = async (): Promise<void> => {
    const ids = [...new Set(Array.from({ length: 1 + random.below(12) }, idToUse))];
    const parts = ids.map((id) => ({
      id,
      ...(random.chance(0.8) && { start: newStart(id) }),
      ...(random.chance(0.7) && { end: newEnd(id) }),
    }));
    const items = parts.flatMap((part) => [part.start?.item ?? [], part.end?.item ?? []].flat());
    const answer = await client.send(report(...items));
    for (const part of parts) {
      if (part.start) note(starts, part.id, part.start.text, answer);
      if (part.end) note(ends, part.id, part.end.text, answer);
    }
  };
  const startOne = async (): Promise<void> => {
    const id = idToUse();
    const { item, text } = newStart(id);
    note(starts, id, text, await client.send({ path: '/call/start', body: item.req }));
  };
  const endOne = async (): Promise<void> => {
    const id = idToUse();
    const { item, text } = newEnd(id);
    note(ends, id, text, await client.send({ path: '/call/end', body: item.req }));
  };
  const update = async (): Promise<void> => {
    const id = random.pick(starts.present);
    const [text] = id === undefined ? [] : [...starts.possible(id)];
    if (id === undefined || text === undefined || starts.possible(id).size > 1) return;
    const display = `name ${random.below(100)}`;
    const [op, , ...rest] = JSON.parse(text) as unknown[];
    const body = { project_id: project, call_id: id, display_name: display };
    note(
      starts,
      id,
      JSON.stringify([op, display, ...rest]),
      await client.send({ path: '/call/update', body }),
    );
  };
  const remove = async (ids: readonly string[], send = client.send): Promise<void> => {
    if (ids.length === 0) return;
    const body = { project_id: project, call_ids: ids };
    const answer = await send({ path: '/calls/delete', body });
    for (const id of ids) {
      note(starts, id, undefined, answer);
      note(ends, id, undefined, answer);
    }
  };
  const see: CallsModel['see'] = (id, call) => {
    const seen = call ? startText(call) : undefined;
    if (!starts.see(id, seen)) throw new Error(`the start of ${id} cannot be ${seen?.slice(0, 300)}`);
    // Without its start an end is not to be seen.
    if (call && !ends.see(id, call.ended_at === null ? undefined : endText(call)))
      throw new Error(`the end of ${id} cannot be ${endText(call).slice(0, 300)}`);
  };
  const read = async (): Promise<void> => {
    const id = random.pick(starts.names);
    const [sent] = id === undefined ? [] : callReads(project, id);
    const answer = sent && (await client.send(sent));
    if (id !== undefined && answer) see(id, (JSON.parse(answer.text) as { call: Call | null }).call);
  };
  const query = async (): Promise<void> => {
    const ids = Array.from({ length: 5 }, () => random.pick(starts.names) ?? '');
    const body = { project_id: project, filter: { call_ids: ids } };
    const answer = await client.send({ path: '/calls/stream_query', body });
    if (!answer) return;
    const found = new Map(parseLines(answer).map((call) => [call.id, call]));
    for (const id of ids.filter(Boolean)) see(id, found.get(id) ?? null);
  };
  const look = async (): Promise<void> => {
    const looks: readonly (readonly [path: string, body: object])[] = [
      ['/threads/stream_query', { project_id: project }],
      ['/calls/query_stats', { project_id: project, filter: { trace_ids: [`${name} 1`] } }],
      ['/calls/usage', { project_id: project, call_ids: some() }],
      [
        '/calls/stats',
        { project_id: project, start: '2026-09-01', call_metrics: [{ metric: 'call_count' }] },
      ],
      ['/projects/query', { limit: 10 }],
      ['/otel/v1/traces', spanExport(`${project}-spans`, { text: `${random.next()}` })],
    ];
    const [path, body] = random.pick(looks) ?? [];
    if (path === undefined || body === undefined) return;
    await client.send({ path, body });
  };
  const some = () => Array.from({ length: 3 }, () => random.pick(starts.names) ?? '').filter(Boolean);
  const actions = [
    batch,
    batch,
    startOne,
    endOne,
    update,
    read,
    query,
    look,
    () => remove([...new Set(some())]),
  ];
  return {
    act: () => (random.pick(actions) ?? batch)(),
    see,
    ids: () => [...new Set([...starts.names, ...ends.names])],
    clear: async () => {
      const all = starts.names;
      for (let i = 0; i < all.length; i += 200) await remove(all.slice(i, i + 200), client.insist);
    },
  };
};

/** The records of an answer of JSON lines. */
export const parseLines = ({ text }: Answer): Call[] =>
  text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Call);
