import type { CallsQuery, Includes } from '../../../api/queries.ts';
import type { HeaderAttribute } from '../../../api/shared/header-fields.ts';
import { type FieldPath, toPath } from '../../../foundations/expression/index.ts';
import { serviceName } from '../../../foundations/wire/index.ts';
import { callColumns, headerAttributeAt, isPayloadColumn } from '../../records/calls/index.ts';

/** The columns of a call's own size and of its trace's, in bytes. */
export const sizeColumn = 'storage_size_bytes';
export const totalSizeColumn = 'total_storage_size_bytes';

/** The column that says in one line each what went in and came out. It is answered by name alone. */
export const previewColumn = 'preview';

const sizeColumns = ({ storageSize, totalStorageSize }: Includes): string[] => [
  ...(storageSize ? [sizeColumn] : []),
  ...(totalStorageSize ? [totalSizeColumn] : []),
];

/** The fields of a call that a query may name. */
const listFields = (includes: Includes): string[] => [
  ...callColumns,
  previewColumn,
  ...sizeColumns(includes),
];

/** The field by which queries reach the feedback on a call, by its type, if calls have it. */
export const feedbackField = 'feedback';

/** What a query must fetch, beside a call's header, before it knows a field. */
export type Requirement =
  /** `summary.usage`. It takes the payload of calls whose header does not hold it. */
  | 'usage'
  /** A field of the attributes. It takes the payload of calls whose header does not hold it. */
  | `attributes.${HeaderAttribute}`
  | 'payload'
  /** What the call was about. It takes the payload if no previews lie beside that. */
  | 'preview'
  /** The payload, with refs replaced by what they lead to. */
  | 'expanded'
  | 'costs'
  | 'feedback'
  | 'totalSize'
  /** What all calls of its trace add up to, of a root. */
  | 'traceTotals';

/** The fields of the service's block that take what is fetched. */
const fieldsFrom: Readonly<Partial<Record<Requirement, readonly string[]>>> = {
  costs: ['costs'],
  feedback: ['feedback'],
  traceTotals: ['trace_totals', 'status'],
};

/** What must be fetched to know what a path leads to. */
export const findRequirements = (
  expand: readonly FieldPath[],
  includes: Includes,
  { text, field, steps }: FieldPath,
): Requirement[] => {
  if (field === totalSizeColumn) return ['totalSize'];
  if (field === feedbackField) return ['feedback'];
  if (field === previewColumn) return ['preview'];
  if (!isPayloadColumn(field)) return [];
  if (expand.some((expanded) => expanded.field === field)) return ['expanded'];
  const attribute = headerAttributeAt(text);
  if (attribute) return [`attributes.${attribute}`];
  if (field !== 'summary') return ['payload'];
  const [first, second] = steps;
  if (first === 'usage') return ['usage'];
  const all: Requirement[] = [
    ...(includes.costs ? ['costs' as const] : []),
    ...(includes.feedback ? ['feedback' as const] : []),
    ...(includes.traceTotals ? ['traceTotals' as const] : []),
  ];
  if (first === undefined) return ['payload', ...all];
  if (first !== serviceName) return ['payload'];
  return second === undefined ? all : all.filter((requirement) => fieldsFrom[requirement]?.includes(second));
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
export const toProjection = ({
  columns,
  includes,
}: Pick<CallsQuery, 'columns' | 'includes'>): Projection[] => {
  const fields = listFields(includes);
  if (columns === null)
    return fields.flatMap((column) => (column === previewColumn ? [] : { column, paths: [toPath(column)] }));
  const requestedPaths = [
    ...always,
    ...columns,
    ...sizeColumns(includes),
    ...(includes.costs ? [`summary.svc.costs`] : []),
    ...(includes.feedback ? [`summary.svc.feedback`] : []),
    ...(includes.traceTotals ? [`summary.svc.trace_totals`] : []),
  ];
  const byField = Map.groupBy(requestedPaths.map(toPath), ({ field }) => field);
  return fields.flatMap((column) => {
    const paths = byField.get(column);
    return paths ? [{ column, paths }] : [];
  });
};
