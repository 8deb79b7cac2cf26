import {
  type Bucket,
  mapConcurrent,
  putObject,
  type RequestBudget,
} from '../../foundations/storage/index.ts';
import type { Dataset } from './columns.ts';
import { toParquet } from './parquet.ts';
import type { Row } from './rows.ts';

/** A file of rows. */
export interface RowFile {
  readonly key: string;
  readonly body: Uint8Array;
}

/** Files that are stored at once. */
const concurrency = 16;

const contentType = 'application/vnd.apache.parquet';

/** The folder of a dataset's rows of a project and a day, as the table's location has it. */
export const folderOf = (dataset: Dataset, projectId: string, day: string): string =>
  `${dataset}/project=${projectId}/day=${day}/`;

/**
 * Makes files of rows: one for each dataset, project and day.
 *
 * @param name without an ending. The same batch has the same, so that it replaces what it wrote
 */
export const filesOf = (rows: readonly Row[], name: string): RowFile[] => {
  const folders = Map.groupBy(rows, ({ dataset, day, cells }) =>
    folderOf(dataset, String(cells.project_id), day),
  );
  return [...folders].flatMap(([folder, some]) => {
    const [first] = some;
    return first ? [{ key: `${folder}${name}.parquet`, body: toParquet(first.dataset, some) }] : [];
  });
};

/**
 * Stores files.
 *
 * @throws ServiceError 503 when the bucket does not take them in time
 */
export const storeFiles = async (
  bucket: Bucket,
  files: readonly RowFile[],
  budget: RequestBudget,
): Promise<void> => {
  await mapConcurrent(files, concurrency, ({ key, body }) =>
    putObject(bucket, key, body, budget, contentType),
  );
};
