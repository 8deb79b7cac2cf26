import { beforeAll, describe, expect, it } from 'vitest';
import { characters } from '../../../../api/tools.ts';
import { toReports } from '../../../../examples/shop/conversations.ts';
import { mcpHeaders, toolCall } from '../../../support/endpoints/agents.ts';
import { end, noise, report, start } from '../../../support/endpoints/scenario.ts';
import { captureNames, readCapture } from '../../../support/otel/captures.ts';
import { planted, travel, travelCalls, travelFeedback } from '../../../support/projects/travel.ts';
import { type SharedService, sharedService } from '../../../support/service/service.ts';

/*
 * What tools advise, followed word for word, and what their answers say beside their rows.
 */

type Data = Readonly<Record<string, unknown>>;
type Row = Data;

const captured = 'acme/captured';
let service: SharedService;
beforeAll(async () => {
  service = await sharedService();
  const calls = travelCalls(Date.now());
  const batch = calls.flatMap((call, at) => toReports(travel, call, at));
  for (let at = 0; at < batch.length; at += 300)
    expect((await service.post('/call/upsert_batch', { batch: batch.slice(at, at + 300) })).status).toBe(200);
  const feedback = { batch: travelFeedback(calls) };
  expect((await service.post('/feedback/batch/create', feedback)).status).toBe(200);
  for (const name of captureNames)
    for (const { body, headers } of readCapture(name).requests)
      await fetch(`${service.url}/otel/v1/traces`, {
        method: 'POST',
        headers: {
          'content-type': headers['content-type'] ?? 'application/x-protobuf',
          ...(headers['content-encoding'] && { 'content-encoding': headers['content-encoding'] }),
          authorization: `Bearer ${service.key}`,
          project_id: captured,
        },
        body: new Uint8Array(body),
      });
});

const send = async (name: string, args: object) => {
  const answer = await service.post('/mcp', toolCall(name, { project_id: travel, ...args }), {
    headers: { authorization: `Bearer ${service.key}`, ...mcpHeaders },
  });
  const { result } = (await answer.json()) as {
    result: { structuredContent?: Data; isError?: boolean; content: { text: string }[] };
  };
  return result;
};
const ask = async (name: string, args: object): Promise<Data> => {
  const { structuredContent, isError, content } = await send(name, args);
  expect([name, args, isError ? content : false]).toEqual([name, args, false]);
  return structuredContent ?? {};
};
const days = { start: '-3d' };
const toRows = (data: Data, name = 'calls'): readonly Row[] => {
  const { columns, rows } = data[name] as { columns: string[]; rows: unknown[][] };
  return rows.map((row) => Object.fromEntries(columns.map((column, i) => [column, row[i]])));
};
const equals = (field: string, value: unknown) => ({
  $expr: { $eq: [{ $getField: field }, { $literal: value }] },
});

/** Texts of a call, without ends of texts that are cut. */
const textsIn = (value: unknown): string[] => {
  if (typeof value === 'string') return [value.replace(/…$/, '')];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
};

/** A word of a hint, which is quoted if it has signs. */
const toText = (word: string): string => (word.startsWith('"') ? (JSON.parse(word) as string) : word);

describe('get_call', () => {
  /** Follows what a reply advises until nothing is missing. */
  const readAll = async (project_id: string, call_id: string, most: number): Promise<string[]> => {
    const about = { project_id, call_id };
    const seen: string[] = [];
    const asked = new Set<string>();
    const left: object[] = [{ max_characters: most }];
    for (let args = left.pop(); args; args = left.pop()) {
      const key = JSON.stringify(args);
      // Two hints may lead to the same place.
      if (asked.has(key)) continue;
      asked.add(key);
      expect(asked.size).toBeLessThan(3000);
      const { missing = [], next_offset, value, call } = await ask('get_call', { ...about, ...args });
      seen.push(...textsIn(value ?? call));
      const { max_characters } = args as { max_characters: number };
      if (next_offset !== undefined) expect(String(missing)).toContain(`and offset ${next_offset}`);
      for (const hint of missing as string[]) {
        const [, at, offset] = /get_call with path (.+?)(?: and offset (\d+))?$/s.exec(hint) ?? [];
        const [, places] = /get_call with each path: (.+)$/s.exec(hint) ?? [];
        if (at !== undefined)
          left.push({ path: toText(at), ...(offset && { offset: Number(offset) }), max_characters });
        else if (places !== undefined)
          for (const [place] of places.matchAll(/"(?:[^"\\]|\\.)*"|[^", ]+/g))
            left.push({ path: toText(place), max_characters });
        else {
          expect(hint).toBe('all of it: the same call with more max_characters');
          left.push({ ...args, max_characters: max_characters * 2 });
        }
      }
    }
    return seen;
  };

  it.each([1000, 3000])('in %i characters leads to all of a call, hint by hint', async (most) => {
    const rows = toRows(
      await ask('query_calls', {
        project_id: captured,
        start: '2020-01-01',
        limit: 1000,
        max_characters: 100_000,
        columns: ['id'],
      }),
    );
    expect(rows.length).toBeGreaterThan(30);
    for (const { id } of rows.filter((_, i) => i % (most === 1000 ? 30 : 12) === 0)) {
      const raw = await service.post('/call/read', { project_id: captured, id, include_feedback: true });
      const { call } = (await raw.json()) as { call: Data };
      const read = await readAll(captured, String(id), most);
      const all = read.join('\n');
      // A word may be cut in two.
      const isRead = (word: string): boolean =>
        all.includes(word) ||
        [...word].some(
          (_, at) =>
            read.some((text) => text.endsWith(word.slice(0, at))) &&
            read.some((text) => text.startsWith(word.slice(at))),
        );
      for (const field of ['inputs', 'output'])
        for (const text of textsIn(call[field])) {
          const words = text.match(/[\p{L}\p{N}]{3,12}/gu) ?? [];
          expect([id, field, words.filter((word) => !isRead(word))]).toEqual([id, field, []]);
        }
    }
  });

  it('shows what is short whatever is long beside it, and long texts cut', async () => {
    const project = 'acme/mcp-hints';
    const own = { project_id: project };
    const long = noise(50_000, 'hints');
    const id = 'short-and-long';
    const { path, body } = report(
      start(project, id, {
        trace_id: id,
        inputs: {
          messages: [
            { role: 'system', content: 's' },
            { role: 'user', content: 'u' },
            { role: 'tool', content: long },
          ],
        },
      }),
      end(project, id, { output: 'It is the gate A4.' }),
    );
    expect((await service.post(path, body)).status).toBe(200);
    const note = {
      project_id: project,
      svc_ref: `svc:///${project}/call/${id}`,
      feedback_type: 'thumbs',
      payload: { up: false, note: 'Too long.' },
    };
    expect((await service.post('/feedback/create', note)).status).toBe(200);
    for (const max_characters of [1000, 1500, 3000, 20_000]) {
      const { call } = await ask('get_call', { ...own, call_id: id, max_characters });
      expect([max_characters, call]).toMatchObject([max_characters, { output: 'It is the gate A4.' }]);
      const third = await ask('get_call', { ...own, call_id: id, path: 'inputs.messages.2', max_characters });
      expect(third.value).toMatchObject({ role: 'tool', content: expect.stringMatching(/^.{20,}…$/s) });
    }
    const { call } = await ask('get_call', { ...own, call_id: id, max_characters: 3000 });
    expect(call).toMatchObject({ feedback: [{ payload: { up: false, note: 'Too long.' } }] });
    const first = await ask('get_call', { ...own, call_id: id, path: 'feedback.0.payload.note' });
    expect(first.value).toBe('Too long.');
    expect(characters.least).toBe(1000);
  });
});

describe('columns of feedback', () => {
  it('are in query_calls, get_call and get_trace', async () => {
    const query = equals('feedback.[evaluation.grounded].payload.value', false);
    const columns = [
      'id',
      'trace_id',
      'feedback.[evaluation.grounded].payload.reason',
      'feedback.[thumbs].payload.up',
    ];
    const [row] = toRows(await ask('query_calls', { ...days, query, columns }));
    const reason = `The gate that crm.lookup gave is ${planted.gate}.`;
    expect(row).toMatchObject({
      'feedback.[evaluation.grounded].payload.reason': reason,
      'feedback.[thumbs].payload.up': null,
    });
    const call_id = row?.id;
    const some = { call_id, columns: ['feedback', 'feedback.[evaluation.grounded].payload.value'] };
    const { call } = await ask('get_call', some);
    expect(call).toMatchObject({
      feedback: [{ feedback_type: 'evaluation.grounded', payload: { value: false, reason } }],
      'feedback.[evaluation.grounded].payload.value': false,
    });
    const path = 'feedback.[evaluation.grounded].payload.reason';
    expect(await ask('get_call', { call_id, path })).toMatchObject({ value: reason });
    const inTrace = await ask('get_trace', { trace_id: row?.trace_id, columns: [path] });
    expect(JSON.stringify(inTrace)).toContain(reason);
    const { isError, content } = await send('get_call', { call_id, path: 'feedback.[thumbs].payload.up' });
    expect([isError, JSON.stringify(content)]).toEqual([
      true,
      expect.stringContaining('feedback.[evaluation.grounded]'),
    ]);
  });
});

describe('search_text', () => {
  it('keeps conversations apart, and says where else one says the same', async () => {
    const hits = toRows(
      await ask('search_text', { ...days, text: 'refund for TX-881', filter: { trace_roots_only: true } }),
      'hits',
    );
    expect(hits).toMatchObject([
      { thread_id: 'refund-new', end_user: 'zoe', release: '1.5.0' },
      { thread_id: 'refund-old', end_user: 'liam', release: '1.4.0' },
    ]);
    const all = toRows(
      await ask('search_text', { ...days, text: 'Compare more fares.', limit: 200 }),
      'hits',
    );
    expect(all).toMatchObject([
      {
        thread_id: planted.dearest,
        also_in: expect.stringMatching(
          /^\d+ more calls of this thread, also in traces t-trip-dear-3, t-trip-dear-2, /,
        ),
      },
    ]);
    const ofUser = toRows(
      await ask('search_text', { ...days, text: 'TX-881', filter: { end_users: ['liam'] } }),
      'hits',
    );
    expect(new Set(ofUser.map(({ end_user }) => end_user))).toEqual(new Set(['liam']));
  });
});

describe('end users', () => {
  it('have one name, and are told from the users of keys', async () => {
    const call_metrics = [{ metric: 'error_count' }];
    const stats = await ask('get_stats', { ...days, group_by: ['end_user'], call_metrics });
    const rows = toRows(stats);
    expect(rows[0]).toMatchObject({
      end_user: planted.affected,
      sum_error_count: expect.any(Number),
      failed_traces: expect.any(Number),
    });
    for (const { end_user, failed_traces, sum_error_count } of rows) {
      const query = equals('summary.svc.status', 'error');
      const failed = toRows(
        await ask('query_calls', {
          ...days,
          query,
          filter: { end_users: end_user },
          columns: ['trace_id', 'end_user'],
          limit: 1000,
          max_characters: 50_000,
        }),
      );
      expect(failed.every((row) => row.end_user === end_user)).toBe(true);
      expect([failed.length, new Set(failed.map(({ trace_id }) => trace_id)).size]).toEqual([
        sum_error_count,
        failed_traces,
      ]);
    }
    const { notes } = await ask('get_stats', { ...days, group_by: ['svc_user_id'] });
    expect(notes).toEqual([
      expect.stringContaining('end users are group_by end_user'),
      expect.stringContaining('trace_roots_only'),
    ]);
    const ofMarta = await ask('get_agents', { ...days, filter: { end_users: [planted.affected] } });
    const { errors: seats } = toRows(ofMarta, 'tools').find(({ tool }) => tool === planted.tool) ?? {};
    // Each failed the tool and its agent.
    expect(toRows(ofMarta, 'agents').find(({ agent }) => agent === 'booking')).toMatchObject({
      errors: 2 * Number(seats),
      failed_traces: seats,
    });
    const { isError, content } = await send('query_calls', { ...days, filter: { end_users: ['martha'] } });
    expect([isError, JSON.stringify(content)]).toEqual([
      true,
      expect.stringContaining('did you mean `marta`?'),
    ]);
  });
});

describe('answers say', () => {
  it('what waits of roots are, and what cut rows off', async () => {
    const call_metrics = [{ metric: 'waited_ms' }];
    const roots = await ask('get_stats', { ...days, filter: { trace_roots_only: true }, call_metrics });
    expect(roots.notes).toEqual([expect.stringContaining('ask without trace_roots_only')]);
    const few = await ask('get_stats', { ...days, group_by: ['thread_id'], limit: 2 });
    expect(few.missing).toEqual([expect.stringContaining('with a larger limit')]);
    const small = await ask('get_stats', { ...days, group_by: ['thread_id'], max_characters: 2000 });
    expect(small.missing).toEqual([expect.stringContaining('with more max_characters')]);
  });

  it('every release of the range, and what is a sample', async () => {
    const described = await ask('describe_project', days);
    expect(described).toMatchObject({
      of_newest_calls: { releases: { '1.4.0': expect.any(Number), '1.5.0': expect.any(Number) } },
      paths: { releases: 'attributes.release', end_users: 'attributes.user.id' },
      fields_of: expect.stringContaining('newest 60 calls'),
    });
    const paths = toRows(described, 'fields').map(({ path }) => path);
    expect(paths).toContain('attributes.seat');
    expect(paths).not.toContain('attributes.release');
    expect(JSON.stringify(described).length).toBeLessThan(6000);
  });

  it('which prompts calls name though none is saved, and how to compare them', async () => {
    const { prompts, notes } = await ask('list_prompts', {});
    expect(prompts).toEqual([]);
    expect(notes).toEqual([
      expect.stringMatching(/booking \((?:3, 4|4, 3)\)/),
      expect.stringContaining('what changed in booking from 3 to 4'),
    ]);
    const [, a, b] = /compare_calls with a (\S+) and b (\S+),/.exec(String(notes)) ?? [];
    expect(JSON.stringify((await ask('compare_calls', { a, b })).differences)).toContain(planted.rule);
  });

  it('one reason of an issue, when its call started, and how to count by release', async () => {
    const found = await ask('find_issues', days);
    const rows = toRows(found, 'issues');
    const verdict = rows.find(({ kind }) => kind === 'verdict');
    expect(verdict).toMatchObject({ said: `The gate that crm.lookup gave is ${planted.gate}.` });
    const [example] = (verdict?.examples ?? []) as string[];
    const { call } = await ask('get_call', { call_id: example });
    expect(call).toMatchObject({ started_at: verdict?.call_started_at });
    expect(verdict?.first_seen).not.toBe(verdict?.call_started_at);
    expect(rows.find(({ kind }) => kind === 'feedback')).toMatchObject({ said: planted.disliked });
    expect(found.notes).toEqual([expect.stringContaining('are seen when they were given')]);
    const crm = await ask('find_issues', { ...days, filter: { tool_names: ['crm.lookup'] } });
    const [, counting = ''] = /get_stats with (\{.*\}) counts them by release/.exec(String(crm.advice)) ?? [];
    const byRelease = toRows(await ask('get_stats', { ...days, ...JSON.parse(counting) }));
    const total = byRelease.reduce((sum, row) => sum + Number(row.sum_call_count), 0);
    expect([byRelease.length, total]).toEqual([2, toRows(crm, 'issues')[0]?.count]);
  });

  it('how much was looked at where nothing is wrong', async () => {
    const { notes } = await ask('find_issues', { ...days, filter: { kinds: ['loop'] } });
    const roots = travelCalls(Date.now()).filter(({ parent }) => parent === null).length;
    expect(notes).toContainEqual(
      expect.stringMatching(/^none of these loops in \d+ traces of \d+ calls of production$/),
    );
    expect(String(notes)).toContain(`in ${roots} traces`);
  });

  it('which prompts two traces differ in', async () => {
    const roots = toRows(
      await ask('query_calls', {
        ...days,
        filter: { op_names: ['handle_request'], thread_ids: ['refund-old', 'refund-new'] },
        columns: ['id', 'thread_id'],
      }),
    );
    const idOf = (thread: string) => roots.find(({ thread_id }) => thread_id === thread)?.id;
    const { notes } = await ask('compare_calls', { a: idOf('refund-old'), b: idOf('refund-new') });
    expect(notes).toEqual([
      expect.stringContaining(
        'the prompt of booking has version 3 in a and 4 in b, and another system prompt',
      ),
    ]);
    const [, a, b] = /compare_calls with a (\S+) and b (\S+)/.exec(String(notes)) ?? [];
    expect(JSON.stringify((await ask('compare_calls', { a, b })).differences)).toContain(planted.rule);
  });
});
