import type { RequestBudget, Store } from '../../foundations/storage/index.ts';
import { type JsonValue, type ProjectId, parseJson } from '../../foundations/wire/index.ts';
import { type Pack, partAt, readPacks, readPart } from './packs.ts';
import { among, type Stretch, stretchesOf } from './query.ts';
import { findTable } from './table.ts';

/** So many parts of packs are kept, of some 512 KB each: refs often lead to rows side by side. */
const maxParts = 16;

/** Gives what a promise was made for before; a failed one is made again. */
const remembered = <T>(cache: Map<string, Promise<T>>, key: string, make: () => Promise<T>): Promise<T> => {
  const known = cache.get(key) ?? make();
  cache.set(key, known);
  return known;
};

/** Reads rows of tables one by one. What several of them need is read once. */
export class RowReader {
  readonly #store: Store;
  readonly #budget: RequestBudget;
  readonly #tables = new Map<string, Promise<readonly Stretch[] | undefined>>();
  readonly #packs = new Map<string, Promise<Pack | undefined>>();
  readonly #parts = new Map<string, Promise<string[]>>();

  constructor(store: Store, budget: RequestBudget) {
    this.#store = store;
    this.#budget = budget;
  }

  /**
   * Reads a row of a table by its digest.
   *
   * @returns undefined where the project has no such table, or the table no such row
   * @throws ServiceError 503 when storage does not give it in time
   */
  async read(projectId: ProjectId, table: string, digest: string): Promise<JsonValue | undefined> {
    const stretches = await remembered(this.#tables, `${projectId} ${table}`, async () => {
      const found = await findTable(this.#store, projectId, table, this.#budget);
      return found && stretchesOf(found);
    });
    if (!stretches) return undefined;
    const [row] = await among(this.#store, projectId, stretches, [digest], this.#budget);
    const text = row && (await this.#textAt(projectId, row));
    return text === undefined ? undefined : (parseJson(text) as JsonValue);
  }

  async #textAt(projectId: ProjectId, { pack: id, from }: Stretch): Promise<string | undefined> {
    const pack = await remembered(this.#packs, `${projectId} ${id}`, async () =>
      (await readPacks(this.#store, projectId, [id], this.#budget)).get(id),
    );
    if (!pack) return undefined;
    const part = partAt(pack, from);
    const first = this.#parts.keys().next().value;
    if (this.#parts.size >= maxParts && first !== undefined) this.#parts.delete(first);
    const rows = await remembered(this.#parts, `${projectId} ${id} ${part}`, () =>
      readPart(this.#store, projectId, pack, part, this.#budget),
    );
    return rows[from - (pack.starts[part] ?? 0)];
  }
}
