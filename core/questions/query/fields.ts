import { type FieldPath, type RecordKind, toPath } from '../../foundations/expression/index.ts';
import type { WireNames } from '../../foundations/wire/index.ts';
import { callColumns, isPayloadColumn } from '../../records/calls/index.ts';
import type { CallsQuery, Includes } from './request.ts';

/** The columns of a call's own size and of its trace's, in bytes. */
export const sizeColumn = 'storage_size_bytes';
export const totalSizeColumn = 'total_storage_size_bytes';

const sizeColumns = ({ storageSize, totalStorageSize }: Includes): string[] => [
  ...(storageSize ? [sizeColumn] : []),
  ...(totalStorageSize ? [totalSizeColumn] : []),
];

/** The fields of a call that a query may name. */
const fieldsOf = (names: WireNames, includes: Includes): string[] => [
  ...callColumns(names),
  ...sizeColumns(includes),
];

/** The field by which queries in Weave's dialect reach the feedback on a call, by its type. */
export const feedbackField = 'feedback';

/** Whether what is asked of calls names their feedback. */
const isOfFeedback = ({ dialect }: WireNames, field: string): boolean =>
  dialect === 'weave' && field === feedbackField;

const feedbackRule = ({ steps }: FieldPath): string | undefined =>
  steps.length > 0 ? undefined : 'should name a type and a field: feedback.[<type>].payload.<path>';

/** Calls as records that expressions are about. */
export const callKind = (names: WireNames, includes: Includes): RecordKind => ({
  // A kind of its own: fewer fields may be named.
  name: `${includes.storageSize && includes.totalStorageSize ? '' : 'Plain'}Call`,
  fields: [...fieldsOf(names, includes), ...(names.dialect === 'weave' ? [feedbackField] : [])],
  nested: [
    'attributes',
    'inputs',
    'output',
    'summary',
    ...(names.dialect === 'weave' ? [feedbackField] : []),
  ],
  times: new Set(['started_at', 'ended_at']),
  ...(names.dialect === 'weave' && { missingIsEmpty: true }),
  pathRule: (path) => {
    const {
      field,
      steps: [block, member],
    } = path;
    if (isOfFeedback(names, field)) return feedbackRule(path);
    if (field !== 'summary' || block !== names.service) return undefined;
    const isLeftOut =
      (member === 'costs' && !includes.costs) || (member === 'feedback' && !includes.feedback);
    return isLeftOut ? `is there only with include_${member}: true` : undefined;
  },
});

/** What a query must fetch, beside a call's header, before it knows a field. */
export type Requirement =
  /** `summary.usage`. It takes the payload of calls whose header does not hold it. */
  | 'usage'
  | 'payload'
  /** The payload, with refs replaced by what they lead to. */
  | 'expanded'
  | 'costs'
  | 'feedback'
  | 'totalSize';

/** What must be fetched to know what a path leads to. */
export const requirementsOf = (
  names: WireNames,
  expand: readonly FieldPath[],
  includes: Includes,
  { field, steps }: FieldPath,
): Requirement[] => {
  if (field === totalSizeColumn) return ['totalSize'];
  if (isOfFeedback(names, field)) return ['feedback'];
  if (!isPayloadColumn(field)) return [];
  if (expand.some((expanded) => expanded.field === field)) return ['expanded'];
  if (field !== 'summary') return ['payload'];
  const [first, second] = steps;
  if (first === 'usage') return ['usage'];
  const all: Requirement[] = [
    ...(includes.costs ? ['costs' as const] : []),
    ...(includes.feedback ? ['feedback' as const] : []),
  ];
  if (first === undefined) return ['payload', ...all];
  if (first !== names.service) return ['payload'];
  return second === undefined ? all : all.filter((requirement) => requirement === second);
};

/** Columns that are always answered. */
const always: readonly string[] = ['id', 'project_id', 'op_name', 'trace_id', 'started_at'];

/** A column of an answer. */
export interface Projection {
  readonly column: string;
  /** The paths into the column that were asked for; one without steps asks for all of it. */
  readonly paths: readonly FieldPath[];
}

/** The columns of an answer, each once and in the order of a whole call. */
export const projectionOf = (
  names: WireNames,
  { columns, includes }: Pick<CallsQuery, 'columns' | 'includes'>,
): Projection[] => {
  const fields = fieldsOf(names, includes);
  if (columns === null) return fields.map((column) => ({ column, paths: [toPath(column)] }));
  const asked = [
    ...always,
    ...columns,
    ...sizeColumns(includes),
    ...(includes.costs ? [`summary.${names.service}.costs`] : []),
    ...(includes.feedback ? [`summary.${names.service}.feedback`] : []),
  ];
  const byField = Map.groupBy(asked.map(toPath), ({ field }) => field);
  return fields.flatMap((column) => {
    const paths = byField.get(column);
    return paths ? [{ column, paths }] : [];
  });
};
