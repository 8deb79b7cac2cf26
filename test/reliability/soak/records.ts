import { byId } from '../../support/endpoints/fixture.ts';
import { fileForm, noise } from '../../support/endpoints/scenario.ts';
import type { Answer } from '../../support/service/in-process.ts';
import type { Random } from '../../support/values/random.ts';
import type { Client } from './client.ts';
import { Slots } from './slots.ts';

/** One client's records of a kind, and what it knows of them. */
export interface RecordsModel {
  /** Does one request of some kind. */
  act(): Promise<void>;
  /** Looks at all records as a reader gets them; throws where that cannot be. */
  check(): Promise<void>;
  /** Deletes all that is there. */
  clear(): Promise<void>;
}

/** A list in an answer. */
const getList = (answer: Answer): Record<string, unknown>[] => {
  const [list] = Object.values(JSON.parse(answer.text) as Record<string, Record<string, unknown>[]>);
  return list ?? [];
};

/** Has a model see what a reader got: every record that there may be, and no other. */
const seeAll = (slots: Slots, found: ReadonlyMap<string, string>): void => {
  for (const name of new Set([...slots.names, ...found.keys()]))
    if (!slots.see(name, found.get(name)))
      throw new Error(`${name} cannot be ${String(found.get(name)).slice(0, 200)}`);
};

const note = (slots: Slots, id: string, value: string | undefined, answer: Answer | undefined): void =>
  answer ? slots.acknowledge(id, value) : slots.doubt(id, value);

/** Creates, replaces, purges and queries feedback in a project of the client's own. */
export const feedbackModel = (client: Client, random: Random, project: string): RecordsModel => {
  const slots = new Slots();
  let made = 0;
  const record = (id: string) => {
    const text = noise(random.chance(0.02) ? 450_000 : 20 + random.below(2000), `${random.next()}`);
    return {
      project_id: project,
      id,
      svc_ref: `svc:///${project}/call/c`,
      feedback_type: 'note',
      payload: { text },
    };
  };
  const newId = () => `f${made++}`;
  const create = async (): Promise<void> => {
    const made = record(newId());
    note(slots, made.id, made.payload.text, await client.send({ path: '/feedback/create', body: made }));
  };
  const batch = async (): Promise<void> => {
    const records = Array.from({ length: 2 + random.below(8) }, () => record(newId()));
    const answer = await client.send({ path: '/feedback/batch/create', body: { batch: records } });
    for (const { id, payload } of records) note(slots, id, payload.text, answer);
  };
  const replace = async (): Promise<void> => {
    const old = random.pick(slots.present);
    if (old === undefined) return;
    const next = record(newId());
    const body = { ...next, feedback_id: old };
    const answer = await client.send({ path: '/feedback/replace', body });
    note(slots, old, undefined, answer);
    note(slots, next.id, next.payload.text, answer);
  };
  const remove = async (ids: readonly string[], send = client.send): Promise<void> => {
    if (ids.length === 0) return;
    const body = { project_id: project, query: byId(...ids) };
    const answer = await send({ path: '/feedback/purge', body });
    for (const id of ids) note(slots, id, undefined, answer);
  };
  const check = async (): Promise<void> => {
    const answer = await client.insist({ path: '/feedback/query', body: { project_id: project } });
    const found = getList(answer).map((seen): [string, string] => [
      String(seen.id),
      (seen.payload as { text: string }).text,
    ]);
    if (new Set(found.map(([id]) => id)).size !== found.length) throw new Error('a record is there twice');
    seeAll(slots, new Map(found));
  };
  const removeOne = () => remove([random.pick(slots.names) ?? []].flat());
  const actions = [create, batch, replace, removeOne, check];
  return {
    act: () => (random.pick(actions) ?? create)(),
    check,
    clear: () => remove(slots.names, client.insist),
  };
};

/**
 * Makes, deletes and reads versions of objects in a project of the client's own; each value is made
 * once.
 */
export const objectsModel = (client: Client, random: Random, project: string): RecordsModel => {
  const slots = new Slots();
  let made = 0;
  const digests = new Map<string, string>();
  const create = async (): Promise<void> => {
    const val = { n: made++, text: noise(random.chance(0.1) ? 60_000 : 200, `${random.next()}`) };
    const name = `${val.n % 5} ${val.n}`;
    const obj = { project_id: project, object_id: `o${val.n % 5}`, val };
    const answer = await client.send({ path: '/obj/create', body: { obj } });
    note(slots, name, JSON.stringify(val), answer);
    if (answer) digests.set(name, (JSON.parse(answer.text) as { digest: string }).digest);
  };
  const remove = async (): Promise<void> => {
    const name = random.pick(slots.present.filter((known) => digests.has(known)));
    if (name === undefined) return;
    const body = { project_id: project, object_id: `o${name[0]}`, digests: [digests.get(name)] };
    note(slots, name, undefined, await client.send({ path: '/obj/delete', body }));
  };
  const read = async (): Promise<void> => {
    const name = random.pick(slots.present.filter((known) => digests.has(known)));
    if (name === undefined) return;
    const digest = digests.get(name);
    const answer = random.chance(0.5)
      ? await client.send({
          path: '/obj/read',
          body: { project_id: project, object_id: `o${name[0]}`, digest },
        })
      : await client.send({
          path: '/refs/read_batch',
          body: { refs: [`svc:///${project}/object/o${name[0]}:${digest}/attr/text`] },
        });
    const [value = ''] = slots.possible(name);
    const { text } = JSON.parse(value) as { text: string };
    if (answer && !answer.text.includes(text)) throw new Error(`the value of ${name} is another`);
  };
  const check = async (): Promise<void> => {
    const answer = await client.insist({ path: '/objs/query', body: { project_id: project } });
    const found = getList(answer).map((seen): [string, string] => {
      const val = seen.val as { n: number };
      return [`${val.n % 5} ${val.n}`, JSON.stringify(val)];
    });
    if (new Set(found.map(([name]) => name)).size !== found.length)
      throw new Error('a version is there twice');
    seeAll(slots, new Map(found));
  };
  const actions = [create, create, remove, read, check];
  return {
    act: () => (random.pick(actions) ?? create)(),
    check,
    clear: async () => {
      for (let n = 0; n < 5; n++) {
        const body = { project_id: project, object_id: `o${n}` };
        const answer = await client.insist({ path: '/obj/delete', body });
        for (const name of slots.names.filter((known) => known.startsWith(`${n} `)))
          note(slots, name, undefined, answer);
      }
    },
  };
};

/** Makes, purges and lists prices in a project of the client's own. */
export const costsModel = (client: Client, random: Random, project: string): RecordsModel => {
  const slots = new Slots();
  let made = 0;
  const ids = new Map<string, string>();
  const create = async (): Promise<void> => {
    const models = Array.from({ length: 1 + random.below(3) }, () => `model ${made++}`);
    const price = (i: number) => ({
      prompt_token_cost: i,
      completion_token_cost: random.below(100),
      effective_date: '2026-10-01T00:00:00Z',
    });
    const costs = Object.fromEntries(models.map((model, i) => [model, price(i)]));
    const answer = await client.send({ path: '/cost/create', body: { project_id: project, costs } });
    for (const [model, { completion_token_cost }] of Object.entries(costs))
      note(slots, model, String(completion_token_cost), answer);
  };
  const remove = async (models: readonly string[], send = client.send): Promise<void> => {
    const known = models.filter((model) => ids.has(model));
    if (known.length === 0) return;
    const query = byId(...known.map((model) => ids.get(model) ?? ''));
    const answer = await send({ path: '/cost/purge', body: { project_id: project, query } });
    for (const model of known) note(slots, model, undefined, answer);
  };
  const check = async (): Promise<void> => {
    const answer = await client.insist({ path: '/cost/query', body: { project_id: project } });
    const found = getList(answer);
    for (const { llm_id, id } of found) ids.set(String(llm_id), String(id));
    seeAll(slots, new Map(found.map((seen) => [String(seen.llm_id), String(seen.completion_token_cost)])));
  };
  const actions = [create, check, () => remove([random.pick(slots.names) ?? []].flat())];
  return {
    act: () => (random.pick(actions) ?? create)(),
    check,
    clear: () => remove(slots.names, client.insist),
  };
};

/**
 * Stores, changes and reads tables and files in a project of the client's own. Their content names
 * them, and nothing deletes them, so whatever was acknowledged can be read.
 */
export const tablesModel = (client: Client, random: Random, project: string): RecordsModel => {
  const files = new Map<string, string>();
  const tables = new Map<string, readonly object[]>();
  let made = 0;
  const digestIn = (answer: Answer): string => (JSON.parse(answer.text) as { digest: string }).digest;
  const row = () => ({ n: made++, text: noise(random.chance(0.05) ? 20_000 : 100, `${random.next()}`) });
  const createFile = async (): Promise<void> => {
    const text = noise(random.chance(0.2) ? 30_000 : 200, `${random.next()}`);
    const answer = await client.send(fileForm(project, text));
    if (answer) files.set(digestIn(answer), text);
  };
  const createTable = async (): Promise<void> => {
    const rows = Array.from({ length: 1 + random.below(10) }, row);
    const body = { table: { project_id: project, rows } };
    const answer = await client.send({ path: '/table/create', body });
    if (answer) tables.set(digestIn(answer), rows);
  };
  const updateTable = async (): Promise<void> => {
    const base = random.pick([...tables.keys()]);
    if (base === undefined) return createTable();
    const added = row();
    const updates = [{ pop: { index: 0 } }, { append: { row: added } }];
    const body = { project_id: project, base_digest: base, updates };
    const answer = await client.send({ path: '/table/update', body });
    if (answer) tables.set(digestIn(answer), [...(tables.get(base)?.slice(1) ?? []), added]);
  };
  const readFile = async (digest: string, send = client.send): Promise<void> => {
    const answer = await send({ path: '/file/content', body: { project_id: project, digest } });
    if (answer && answer.text !== files.get(digest)) throw new Error(`the file ${digest} is another`);
  };
  const readTable = async (digest: string, send = client.send): Promise<void> => {
    const answer = await send({ path: '/table/query', body: { project_id: project, digest } });
    const rows = answer && getList(answer).map(({ val }) => val);
    if (rows && JSON.stringify(rows) !== JSON.stringify(tables.get(digest)))
      throw new Error(`the table ${digest} has other rows`);
  };
  const countRows = async (digest: string): Promise<void> => {
    const answer = await client.send({ path: '/table/query_stats', body: { project_id: project, digest } });
    if (answer && !answer.text.includes(`{"count":${tables.get(digest)?.length}}`))
      throw new Error(`the table ${digest} has another number of rows: ${answer.text}`);
  };
  const ofOne = (known: ReadonlyMap<string, unknown>, read: (digest: string) => Promise<void>) => {
    const digest = random.pick([...known.keys()]);
    return digest === undefined ? createFile() : read(digest);
  };
  const actions = [
    createFile,
    createTable,
    updateTable,
    () => ofOne(files, readFile),
    () => ofOne(tables, readTable),
    () => ofOne(tables, countRows),
  ];
  return {
    act: () => (random.pick(actions) ?? createFile)(),
    check: async () => {
      for (const digest of files.keys()) await readFile(digest, client.insist);
      for (const digest of tables.keys()) await readTable(digest, client.insist);
    },
    clear: async () => {},
  };
};
