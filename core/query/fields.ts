import { callColumns, isPayloadColumn } from '../calls/index.ts';
import type { FieldPath, RecordKind } from '../expression/index.ts';
import type { WireNames } from '../wire/index.ts';
import type { Includes } from './request.ts';

/** The column of a call's own size, and that of its trace's, in bytes. */
export const sizeColumn = 'storage_size_bytes';
export const totalSizeColumn = 'total_storage_size_bytes';

/** The fields of a call that a query may name, given what it includes. */
export const fieldsOf = (names: WireNames, includes: Includes): string[] => [
  ...callColumns(names),
  ...(includes.storageSize ? [sizeColumn] : []),
  ...(includes.totalStorageSize ? [totalSizeColumn] : []),
];

/** Calls as records that expressions are about. */
export const callKind = (names: WireNames, includes: Includes): RecordKind => ({
  // With fewer columns they are another kind.
  name: includes.storageSize && includes.totalStorageSize ? 'Call' : 'PlainCall',
  fields: fieldsOf(names, includes),
  times: new Set(['started_at', 'ended_at']),
  pathRule: ({ field, steps: [block, member] }) => {
    if (field !== 'summary' || block !== names.service) return undefined;
    const isLeftOut =
      (member === 'costs' && !includes.costs) || (member === 'feedback' && !includes.feedback);
    return isLeftOut ? `is there only with include_${member}: true` : undefined;
  },
});

/** What must be fetched beside a call's header before a field of it is known. */
export type Need =
  /** `summary.usage`: the payload of those calls in whose header it does not ride along. */
  | 'usage'
  | 'payload'
  /** The payload, with refs replaced by what they refer to. */
  | 'expanded'
  | 'costs'
  | 'feedback'
  | 'totalSize';

/** What it takes to know what a path leads to. */
export const needsOf = (
  names: WireNames,
  expand: readonly FieldPath[],
  includes: Includes,
  { field, steps }: FieldPath,
): Need[] => {
  if (field === totalSizeColumn) return ['totalSize'];
  if (!isPayloadColumn(field)) return [];
  if (expand.some((expanded) => expanded.field === field)) return ['expanded'];
  if (field !== 'summary') return ['payload'];
  const [first, second] = steps;
  if (first === 'usage') return ['usage'];
  const all: Need[] = [
    ...(includes.costs ? ['costs' as const] : []),
    ...(includes.feedback ? ['feedback' as const] : []),
  ];
  if (first === undefined) return ['payload', ...all];
  if (first !== names.service) return ['payload'];
  return second === undefined ? all : all.filter((need) => need === second);
};
