import { textOf } from '../../data/search-values.ts';

/** The state of the view of objects, as the URL has it. */
export interface ObjectsSearch {
  readonly project: string;
  /** The selected object. @default - none */
  readonly object?: string;
  /** The digest of the version that is shown. @default - the latest */
  readonly version?: string;
  /** The digest of the version that it is compared with. @default - the one before it */
  readonly base?: string;
}

/** Reads the state from a URL. What is not understood is dropped. */
export const parseObjectsSearch = (search: Record<string, unknown>): ObjectsSearch => {
  const [object, version, base] = [search.object, search.version, search.base].map(textOf);
  return {
    project: textOf(search.project) ?? '',
    ...(object && { object }),
    ...(version && { version }),
    ...(base && { base }),
  };
};
