import { mkdirSync, readFileSync } from 'node:fs';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { GetObjectCommand, ListObjectsV2Command, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { localCredentials } from 'cdk-local-runner';
import { getOutput, localRegion } from 'cdk-local-runner/template';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { compactFolders } from '../../../../bin/compact.ts';
import { callColumns } from '../../../../core/workers/analytics/columns.ts';
import { analyticsQueries, statesTable, viewQuery } from '../../../../lib/analytics-catalog.ts';
import { root } from '../../../support/run/project.ts';
import { startService, type TestService } from '../../../support/service/service.ts';

const project_id = 'acme/shop';
/** Has a query for notebooks. */
const guide = join(root, 'docs/analytics.md');

let service: TestService;
let s3: S3Client;
let bucket: string;
let folder: string;
let dataDir: string;
let duck: DuckDBConnection;
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'pennytrace-data-'));
  service = await startService({ settings: { events: true, analytics: true }, maxWindowMs: 300, dataDir });
  s3 = new S3Client({ endpoint: inject('stores').s3, region: localRegion, credentials: localCredentials });
  bucket = getOutput(service.stack, 'AnalyticsBucket');
  folder = await mkdtemp(join(tmpdir(), 'pennytrace-rows-'));
  duck = await (await DuckDBInstance.create(':memory:')).connect();
  // What Athena calls otherwise.
  await duck.run('CREATE MACRO approx_percentile(x, p) AS quantile_cont(x, p)');
});
afterAll(async () => {
  duck.closeSync();
  s3.destroy();
  await service.stop();
  for (const made of [folder, dataDir]) await rm(made, { recursive: true, force: true });
});

const listKeys = async (): Promise<string[]> => {
  const { Contents = [] } = await s3.send(new ListObjectsV2Command({ Bucket: bucket }));
  return Contents.map(({ Key = '' }) => Key);
};

/** Takes the files of the bucket as they are now, and makes the tables and views over them. */
const look = async (): Promise<void> => {
  await rm(folder, { recursive: true, force: true });
  const keys = await listKeys();
  for (const key of keys) {
    const { Body } = await s3.send(new GetObjectCommand({ Bucket: bucket, Key: key }));
    const file = join(folder, key);
    mkdirSync(dirname(file), { recursive: true });
    await writeFile(file, (await Body?.transformToByteArray()) ?? new Uint8Array());
  }
  const datasets = (['calls', 'feedback'] as const).filter((name) =>
    keys.some((key) => key.startsWith(name)),
  );
  for (const dataset of datasets) {
    // The partitions that Athena takes from the location.
    const partitions = `project_id AS project, regexp_extract(filename, 'day=([0-9-]+)/', 1) AS day`;
    const files = join(folder, `${dataset}/**/*.parquet`);
    await duck.run(
      `CREATE OR REPLACE VIEW ${statesTable(dataset)} AS SELECT *, ${partitions} FROM read_parquet('${files}', filename = true, hive_partitioning = false, union_by_name = true)`,
    );
    await duck.run(`CREATE OR REPLACE VIEW ${dataset} AS ${viewQuery(dataset)}`);
  }
};

/** A database with the view of the document, over the files as they were looked at last. */
const openNotebook = async (): Promise<DuckDBConnection> => {
  const [, view = ''] = /(CREATE VIEW calls AS .+?)"""/s.exec(readFileSync(guide, 'utf8')) ?? [];
  const notebook = await (await DuckDBInstance.create(':memory:')).connect();
  await notebook.run(view.replace('s3://<AnalyticsBucket>', folder));
  return notebook;
};

const ask = async (sql: string): Promise<Record<string, unknown>[]> =>
  (await duck.runAndReadAll(sql)).getRowObjectsJson() as Record<string, unknown>[];

/** The query over the files that the guide has for notebooks. */
const ofNotebooks = (): string => {
  const [, select = ''] = /CREATE VIEW calls AS (.+?)"""/s.exec(readFileSync(guide, 'utf8')) ?? [];
  return select.replace('s3://<AnalyticsBucket>', folder);
};

/** Asks again until the files tell what they should. */
const eventually = (sql: string, rows: unknown) =>
  expect
    .poll(
      async () => {
        try {
          await look();
          return await ask(sql);
        } catch (error) {
          return String(error);
        }
      },
      { interval: 300 },
    )
    .toEqual(rows);

const makeStart = (id: string, fields: object = {}) => ({
  start: {
    project_id,
    id,
    trace_id: 't',
    op_name: 'chat',
    started_at: '2026-11-10T10:00:00.123456Z',
    inputs: { secret: 'in' },
    ...fields,
  },
});
const usage = {
  'gpt-4o': { prompt_tokens: 1000, completion_tokens: 100, prompt_tokens_details: { cached_tokens: 400 } },
};
const makeEnd = (id: string, fields: object = {}) => ({
  end: {
    project_id,
    id,
    ended_at: '2026-11-10T10:00:01.623456Z',
    output: { secret: 'out' },
    summary: { usage },
    ...fields,
  },
});
const batch = async (...parts: readonly object[]): Promise<void> => {
  const items = parts.map((req) => ({ mode: 'start' in req ? 'start' : 'end', req }));
  expect((await service.post('/call/upsert_batch', { batch: items })).status).toBe(200);
};

describe('the files', () => {
  it('have a row of a call, with types that people think in', async () => {
    const attributes = {
      user: { id: 'eve' },
      kind: 'agent',
      environment: 'production',
      release: 3,
      agent: { name: 'support', version: '2' },
      tool: { name: 'orders.refund' },
    };
    await batch(
      makeStart('one', { thread_id: 'th', turn_id: 'one', attributes }),
      makeEnd('one', { summary: { usage, waited_ms: 1200 } }),
    );
    await eventually("SELECT id FROM calls WHERE id = 'one'", [{ id: 'one' }]);
    const types = await ask('SELECT column_name, column_type FROM (DESCRIBE calls_states)');
    const typesByColumn = Object.fromEntries(
      types.map(({ column_name, column_type }) => [column_name, column_type]),
    );
    expect(typesByColumn).toMatchObject({
      started_at: 'TIMESTAMP',
      latency_ms: 'BIGINT',
      total_cost: 'DECIMAL(18,9)',
      costs: 'MAP(VARCHAR, DECIMAL(18,9))',
      usage: expect.stringMatching(/^MAP\(VARCHAR, STRUCT\(prompt_tokens BIGINT/),
      deleted: 'BOOLEAN',
    });
    const rows = await ask("SELECT * FROM calls WHERE id = 'one'");
    expect(rows).toMatchObject([
      {
        project: project_id,
        day: '2026-11-10',
        id: 'one',
        thread_id: 'th',
        end_user_id: 'eve',
        kind: 'agent',
        environment: 'production',
        release: null,
        agent: 'support',
        tool: 'orders.refund',
        waited_ms: '1200',
        op_name: 'chat',
        status: 'success',
        started_at: '2026-11-10 10:00:00.123456',
        ended_at: '2026-11-10 10:00:01.623456',
        latency_ms: '1500',
        total_cost: '0.003000000',
        user_id: 'local',
        parent_id: null,
      },
    ]);
    expect(JSON.stringify(rows)).not.toContain('secret');
    expect(await listKeys()).toContainEqual(
      expect.stringMatching(/^calls\/project=acme\/shop\/day=2026-11-10\/[\w-]+\.parquet$/),
    );
  });

  it('have a call that is reported apart, whatever comes first, as one row of the view', async () => {
    await service.post('/call/start', makeStart('two'));
    await eventually("SELECT status FROM calls WHERE id = 'two'", [{ status: 'running' }]);
    await service.post('/call/end', makeEnd('two', { exception: 'no' }));
    await eventually("SELECT status FROM calls WHERE id = 'two'", [{ status: 'error' }]);
    await service.post('/call/end', makeEnd('three'));
    await service.post('/call/start', makeStart('three'));
    await eventually("SELECT status, total_cost FROM calls WHERE id = 'three'", [
      { status: 'success', total_cost: '0.003000000' },
    ]);
  });

  it('have the last state of a call that is renamed, or moved to another day', async () => {
    await batch(makeStart('four'), makeEnd('four'));
    await eventually("SELECT day FROM calls WHERE id = 'four'", [{ day: '2026-11-10' }]);
    await service.post('/call/update', { project_id, call_id: 'four', display_name: 'Four' });
    await eventually("SELECT trace_name FROM calls WHERE id = 'four'", [{ trace_name: 'Four' }]);
    await batch(makeStart('four', { started_at: '2026-11-09T23:59:59Z' }));
    await eventually("SELECT day FROM calls WHERE id = 'four'", [{ day: '2026-11-09' }]);
    const notebook = await openNotebook();
    const rows = await notebook.runAndReadAll(
      "SELECT project, CAST(day AS VARCHAR) AS day FROM calls WHERE id = 'four'",
    );
    expect(rows.getRowObjectsJson()).toEqual([{ project: project_id, day: '2026-11-09' }]);
    notebook.closeSync();
  });

  it('are asked by a notebook with the SQL of the document', async () => {
    await batch(makeStart('six'), makeEnd('six'));
    await eventually("SELECT id FROM calls WHERE id = 'six'", [{ id: 'six' }]);
    const notebook = await openNotebook();
    const [, documented = ''] = /^```sql\n(.*?)^```/ms.exec(readFileSync(guide, 'utf8')) ?? [];
    const [, byOp = ''] = /^db\.sql\("(SELECT .*)"\)\.df\(\)$/m.exec(readFileSync(guide, 'utf8')) ?? [];
    const models = await notebook.runAndReadAll(documented);
    expect(models.getRowObjectsJson()).toContainEqual(
      expect.objectContaining({ day: '2026-11-10', model: 'gpt-4o' }),
    );
    expect((await notebook.runAndReadAll(byOp)).getRowObjectsJson()).toMatchObject([{ op_name: 'chat' }]);
    notebook.closeSync();
  });

  it('have feedback with its scores, and the last revision of it', async () => {
    const feedback = (id: string, payload: object) => ({
      project_id,
      id,
      svc_ref: `svc:///${project_id}/call/one`,
      feedback_type: 'judge',
      payload,
    });
    await service.post('/feedback/create', feedback('f1', { score: 0.25, good: true, reason: 'dull' }));
    const scores = "SELECT id, call_id, score, scores['good'] AS good FROM feedback";
    await eventually(scores, [{ id: 'f1', call_id: 'one', score: 0.25, good: 1 }]);
    await service.post('/feedback/replace', { ...feedback('f2', { value: 3 }), feedback_id: 'f1' });
    await eventually(scores, [{ id: 'f2', call_id: 'one', score: 3, good: null }]);
  });
});

describe('the data folder of a local service', () => {
  it('has the same files', async () => {
    const files = async () =>
      (await readdir(join(dataDir, 'analytics'), { recursive: true })).filter((name) =>
        name.endsWith('.parquet'),
      );
    await expect.poll(async () => (await files()).toSorted()).toEqual((await listKeys()).toSorted());
  });
});

describe('a deleted call', () => {
  it('is out of the view, and by a command out of the files', async () => {
    await batch(makeStart('five'), makeEnd('five'));
    await eventually("SELECT id FROM calls WHERE id = 'five'", [{ id: 'five' }]);
    await service.post('/calls/delete', { project_id, call_ids: ['five'] });
    await eventually("SELECT id FROM calls WHERE id = 'five'", []);
    const before = await ask('SELECT * FROM calls ORDER BY id');
    expect((await ask("SELECT op_name FROM calls_states WHERE id = 'five' AND NOT deleted")).length).toBe(1);
    const options = {
      bucket,
      project: project_id as never,
      dryRun: false,
    };
    const counts = await compactFolders(s3, options);
    expect(counts.rowsAfter).toBeLessThan(counts.rowsBefore);
    await look();
    expect(await ask("SELECT op_name FROM calls_states WHERE id = 'five' AND NOT deleted")).toEqual([]);
    expect(await ask('SELECT * FROM calls ORDER BY id')).toEqual(before);
    expect((await compactFolders(s3, options)).rowsBefore).toBe(counts.rowsAfter);
  });
});

describe('the saved queries', () => {
  it.each(Object.entries(analyticsQueries))('%s can be asked', async (_, { sql }) => {
    await look();
    expect((await ask(sql)).length).toBeGreaterThan(0);
  });

  it('say what /calls/stats says', async () => {
    const [cost] = await ask(
      `SELECT sum(cost) AS cost, sum(tokens) AS tokens FROM (${analyticsQueries['Cost by model and day']?.sql})`,
    );
    const [errors] = await ask(
      `SELECT sum(calls) AS calls, sum(errors) AS errors FROM (${analyticsQueries['Error rates']?.sql})`,
    );
    const answer = await service.post('/calls/stats', {
      project_id,
      start: '2026-11-01',
      end: '2026-12-01',
      granularity: 30 * 86_400,
      usage_metrics: [{ metric: 'total_cost' }, { metric: 'total_tokens' }],
      call_metrics: [{ metric: 'call_count' }, { metric: 'error_count' }],
    });
    expect(answer.status).toBe(200);
    const stats = (await answer.json()) as {
      usage_buckets: Record<string, number>[];
      call_buckets: Record<string, number>[];
    };
    const total = (buckets: Record<string, number>[], name: string) =>
      buckets.reduce((sum, bucket) => sum + (bucket[name] ?? 0), 0);
    expect(Number(cost?.cost)).toBeCloseTo(total(stats.usage_buckets, 'sum_total_cost'), 8);
    expect(Number(cost?.tokens)).toBe(total(stats.usage_buckets, 'sum_total_tokens'));
    expect(Number(errors?.calls)).toBe(total(stats.call_buckets, 'sum_call_count'));
    expect(Number(errors?.errors)).toBe(total(stats.call_buckets, 'sum_error_count'));
  });
});

describe('a file of an earlier release', () => {
  const added = ['tool', 'agent', 'waited_ms'];
  const before = callColumns.map(({ name }) => name).filter((name) => !added.includes(name));

  it('has null in the columns that it lacks: in tables, in notebooks, and after it was compacted', async () => {
    await look();
    const file = join(dataDir, 'old.parquet');
    const values = before.map((name) => (name === 'id' ? "'old' AS id" : name));
    await duck.run(
      `COPY (SELECT ${values.join(', ')} FROM ${statesTable('calls')} WHERE id = 'one') TO '${file}' (FORMAT parquet)`,
    );
    const Key = `calls/project=${project_id}/day=2026-11-10/0-old.parquet`;
    await s3.send(new PutObjectCommand({ Bucket: bucket, Key, Body: readFileSync(file) }));
    await look();
    const asked = `SELECT id, op_name, tool, agent, waited_ms FROM calls WHERE id IN ('one', 'old') ORDER BY id`;
    const rows = [
      { id: 'old', op_name: 'chat', tool: null, agent: null, waited_ms: null },
      { id: 'one', op_name: 'chat', tool: 'orders.refund', agent: 'support', waited_ms: '1200' },
    ];
    expect(await ask(asked)).toEqual(rows);
    expect(await ask(asked.replace('calls', `(${ofNotebooks()})`))).toEqual(rows);
    const options = { bucket, project: project_id as never, dryRun: false };
    await compactFolders(s3, options);
    expect(await listKeys()).not.toContain(Key);
    await look();
    expect(await ask(asked)).toEqual(rows);
  });
});

it('nothing failed and nothing was left', () => {
  expect(service.bus.letters).toEqual([]);
  expect(service.logged.filter((line) => /"level":"error"|refused:|^streams:/.test(line))).toEqual([]);
});
