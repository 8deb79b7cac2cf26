import type { Operation } from '../../api/endpoint.ts';
import { fileContent, fileCreate } from '../../api/files.ts';

/*
 * The endpoints of files by the names that the Python SDK had for them up to 0.52.
 */

const renamed = <const Path extends string, Of extends { readonly operations: readonly Operation[] }>(
  route: Of,
  path: Path,
) => ({
  ...route,
  path,
  operations: route.operations.map((operation) => ({
    ...operation,
    name: operation.name.replace('File', 'Files'),
    summary: `${operation.summary}, by its former path`,
  })),
});

export const filesCreate = renamed(fileCreate, '/files/create');
export const filesContent = renamed(fileContent, '/files/content');
