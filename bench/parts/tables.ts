/**
 * What tables and files of Weave's dialect cost to write. Tables are new, share their rows, or get
 * a row more. Files are small or large. All this is independent of the machine's speed.
 */
import { randomBytes } from 'node:crypto';
import type { S3Client } from '@aws-sdk/client-s3';
import { requestBudget, type Store } from '../../core/foundations/storage/index.ts';
import type { JsonObject, ProjectId } from '../../core/foundations/wire/index.ts';
import { createFile } from '../../core/records/files.ts';
import { createTable, updateTable } from '../../core/records/tables/index.ts';
import type { Bench } from '../harness/bench.ts';
import { counted, type Figure } from '../harness/figures.ts';
import type { BenchPart } from '../harness/part.ts';

const project = 'acme/shop' as ProjectId;
const rowCount = 10_000;

/** Rows of some 200 bytes. */
const rowsOf = (count: number): JsonObject[] =>
  Array.from({ length: count }, (_, id) => {
    const word = (n: number) => ((id * 7919 + n * 104_729) % 1_000_003).toString(36);
    return { id, question: Array.from({ length: 32 }, (_, n) => word(n)).join(' '), answer: word(99) };
  });

/** Sizes in bytes that do not compress: in an item, and in the bucket. */
const files = [
  ['a file of 2 KB', 2048],
  ['a file of 1 MB', 1024 * 1024],
] as const;

/** Takes what is put, and counts it. */
const countingBucket = () => {
  let puts = 0;
  const objects = new Map<string, Uint8Array>();
  const send = async ({ input }: { input: { Key: string; Body?: Uint8Array } }) => {
    if (input.Body) {
      puts++;
      objects.set(input.Key, input.Body);
      return {};
    }
    return { Body: { transformToByteArray: async () => objects.get(input.Key) } };
  };
  return { client: { send } as unknown as S3Client, puts: () => puts };
};

/** Counts the write units and PUTs of tables and files. */
export const tableFigures = async (bench: Bench): Promise<Figure[]> => {
  const bucket = countingBucket();
  const store: Store = {
    ...(await bench.newStore('objects')),
    bucket: { name: 'none', client: bucket.client },
  };
  const figures: Figure[] = [];
  const count = async (
    name: string,
    work: (budget: ReturnType<typeof requestBudget>) => Promise<unknown>,
  ) => {
    const before = bucket.puts();
    const budget = requestBudget(120_000);
    await work(budget);
    figures.push(
      counted(`${name}: write units`, 'units', budget.meter.writeUnits),
      counted(`${name}: read units`, 'units', budget.meter.readUnits),
      counted(`${name}: PUTs`, 'requests', bucket.puts() - before),
    );
  };
  const rows = rowsOf(rowCount);
  const [added = {}] = rowsOf(rowCount + 1).slice(-1);
  let digest = '';
  await count('10,000 new rows', async (budget) => {
    digest = (await createTable(store, project, rows, null, budget)).digest;
  });
  await count('the same with a row more', (budget) =>
    createTable(store, project, [...rows, added], null, budget),
  );
  await count('a row more, by an update', (budget) =>
    updateTable(store, project, digest, [{ kind: 'append', row: { id: -1 } }], budget),
  );
  await count('100 new rows', (budget) =>
    createTable(
      store,
      project,
      rowsOf(100).map((row) => ({ ...row, other: true })),
      null,
      budget,
    ),
  );
  for (const [name, bytes] of files)
    await count(name, (budget) => createFile(store, project, randomBytes(bytes), null, budget));
  return figures;
};

/** Units of tables and files. */
export const tablePart: BenchPart = {
  name: 'tables',
  title: "Tables and files of Weave's dialect: what writing rows of 200 bytes and files takes",
  run: async ({ bench }) => tableFigures(await bench()),
};
