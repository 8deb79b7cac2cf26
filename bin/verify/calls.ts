import { randomBytes, randomUUID } from 'node:crypto';
import { GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { unpackHeader } from '../../core/records/calls/header.ts';
import { segmentItemKey, startKey } from '../../core/records/calls/items.ts';
import { asBytes } from '../../foundations/storage/index.ts';
import { ask, eventually, list, must, Red, readText, type Target, theLog } from './check.ts';

/** How many calls are reported, and what they hold: more than Lambda's 6 MB of a buffered answer. */
const calls = { requests: 3, each: 25, characters: 100_000 };

const makeIds = ({ run }: Target): string[] =>
  Array.from({ length: calls.requests * calls.each }, (_, i) => `${run}-${i}`);

/** Text that compresses to nothing stays in the table, and other text goes to the bucket. */
const repeated = (): string => randomUUID().repeat(Math.ceil(calls.characters / 36));
const random = (): string => randomBytes((calls.characters * 3) / 4).toString('base64');

const makeBatch = ({ project, run }: Target, ids: readonly string[], makeText: () => string): object => {
  const started_at = new Date().toISOString();
  return {
    batch: ids
      .map((id) => ({ id, text: makeText() }))
      .flatMap(({ id, text }) => [
        {
          mode: 'start',
          req: {
            start: {
              project_id: project,
              id,
              trace_id: run,
              op_name: 'verify',
              started_at,
              inputs: { text },
            },
          },
        },
        { mode: 'end', req: { end: { project_id: project, id, ended_at: started_at, output: 'done' } } },
      ]),
  };
};

/** The calls of this run. */
const own = ({ project, run }: Target) => ({ project_id: project, filter: { trace_ids: [run] } });

export const report = async (target: Target): Promise<void> => {
  const ids = makeIds(target);
  for (let i = 0; i < calls.requests; i++) {
    const some = ids.slice(i * calls.each, (i + 1) * calls.each);
    const body = makeBatch(target, some, i === 0 ? random : repeated);
    await readText(await ask(target, '/call/upsert_batch', { body }));
  }
};

export const query = async (target: Target): Promise<void> => {
  await eventually(
    target,
    async () => {
      const answer = await ask(target, '/calls/stream_query', { body: { ...own(target), columns: ['id'] } });
      const lines = (await readText(answer)).split('\n').filter(Boolean);
      const count = calls.requests * calls.each;
      if (lines.length === count) return undefined;
      return new Red(`${lines.length} of ${count} calls are found`, 'run it again: an index is late');
    },
    20_000,
  );
};

export const stream = async (target: Target): Promise<void> => {
  const answer = await ask(target, '/calls/stream_query', {
    body: own(target),
    headers: { 'accept-encoding': 'identity' },
  });
  const bytes = Buffer.byteLength(await readText(answer));
  must(bytes > 6_291_556, `${bytes} bytes came, fewer than were stored`, `see ${list}: response streaming`);
};

export const compressed = async (target: Target): Promise<void> => {
  const answer = await ask(target, '/calls/stream_query', {
    body: { ...own(target), columns: ['id'] },
    headers: { 'accept-encoding': 'gzip' },
  });
  const coding = answer.headers.get('content-encoding');
  await readText(answer);
  must(coding === 'gzip', `the answer’s coding is ${coding}`, `see ${list}: the gateway’s binary types`);
};

export const leave = async (target: Target): Promise<void> => {
  const leaving = new AbortController();
  const answer = await ask(target, '/calls/stream_query', { body: own(target), signal: leaving.signal });
  await answer.body?.getReader().read();
  leaving.abort();
  const next = await ask(target, '/calls/stream_query', {
    body: { ...own(target), columns: ['id'], limit: 1 },
  });
  must((await readText(next)).includes(target.run), 'the next query finds nothing', theLog);
};

/** Has the payloads of a call be unreadable until it is disposed of. */
const damagePayload = async ({ project, calls: { client, name } }: Target, id: string) => {
  const start = await client.send(new GetCommand({ TableName: name, Key: startKey(project, id) }));
  const header = asBytes(start.Item?.h);
  const sortKey = asBytes(start.Item?.ts);
  const content = header && sortKey && unpackHeader(header, { projectId: project, id }, sortKey);
  const segment = content?.start?.payload.segment;
  if (!segment) throw new Red(`the call ${id} has no payload in the table ${name}`, theLog);
  const Key = segmentItemKey(project, segment);
  const { Item } = await client.send(new GetCommand({ TableName: name, Key }));
  if (!Item) throw new Red(`the segment ${segment} is not in the table ${name}`, theLog);
  const put = (bytes: unknown) =>
    client.send(new PutCommand({ TableName: name, Item: { ...Item, b: bytes } }));
  await put(randomBytes(200));
  return { [Symbol.asyncDispose]: async () => void (await put(Item.b)) };
};

/**
 * A payload of the last calls cannot be read, which the service notices when it has sent the first ones.
 * What came must not look like a whole answer.
 */
export const breakOff = async (target: Target): Promise<void> => {
  await using _damaged = await damagePayload(target, `${target.run}-${calls.requests * calls.each - 1}`);
  const answer = await ask(target, '/calls/stream_query', {
    body: { ...own(target), sort_by: [{ field: 'started_at', direction: 'asc' }] },
    headers: { 'accept-encoding': 'identity' },
  });
  must(answer.status === 200, `the stream begins with ${answer.status}, not with calls`, theLog);
  const outcome = await answer.text().then(
    (text) => `a whole answer of ${text.length} characters`,
    () => 'an error',
  );
  must(
    outcome === 'an error',
    `the client takes what came for ${outcome}`,
    `see ${list}: streams that break`,
  );
};
