import type { CallsQuery } from '../../../api/queries.ts';
import { type FieldNames, ownNames } from '../../../foundations/door.ts';
import { type FieldPath, pick, toPath, type Value, valueAt } from '../../../foundations/expression/index.ts';
import {
  csvLine,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parseJson,
  serviceName,
} from '../../../foundations/wire/index.ts';
import {
  type CallHeader,
  columnJson,
  type EndStatus,
  getSource,
  headerAttributeAt,
  headerValue,
  isPayloadColumn,
  knownAttributes,
  type Payload,
  type PayloadField,
  type Preview,
  type PreviewedCall,
  previewOfPayload,
  renamedSummary,
  type StoredCall,
  serviceField,
  serviceSummary,
  storageSize,
} from '../../records/calls/index.ts';
import {
  feedbackField,
  type Projection,
  previewColumn,
  sizeColumn,
  toProjection,
  totalSizeColumn,
} from './fields.ts';
import type { Figures } from './figures.ts';

/** What has been fetched of a call beside its header and payload. */
interface Extras {
  /** Not needed beside the payload. */
  readonly preview?: Preview;
  readonly costs?: JsonObject;
  readonly feedback?: JsonValue[];
  /** The bytes of all calls of its trace. */
  readonly totalSize?: number;
  /** What all calls of its trace add up to, of a root. */
  readonly ofTrace?: Figures;
  /** Payload fields, with refs replaced by what they lead to. */
  readonly expanded?: Readonly<Partial<Record<PayloadField, JsonValue>>>;
}

const none: Extras = {};

/** Where calls say who made them. Those that do not are found by what they are known to be. */
const sourcePath = 'attributes.source';

const failedBelow: EndStatus = 'descendant_error';

/** A call on its way through a query: its header, and what has been fetched of the rest. */
export class QueriedCall {
  readonly header: CallHeader;
  /** Null until it is fetched. */
  readonly payload: Payload | null;
  readonly extras: Extras;
  /** The header that it was found with. It differs when the call was reported again meanwhile. */
  readonly found: CallHeader;
  #parsed: Map<PayloadField, JsonValue> | undefined;
  #previewed: JsonObject | undefined;

  constructor(header: CallHeader, payload: Payload | null = null, extras: Extras = none, found = header) {
    this.header = header;
    this.payload = payload;
    this.extras = extras;
    this.found = found;
  }

  /** The same call as it was read with its payload. */
  readAs({ header, payload }: StoredCall): QueriedCall {
    return new QueriedCall(header, payload, this.extras, this.found);
  }

  /** The same call as it was read with its preview. */
  previewedAs({ header, preview }: PreviewedCall): QueriedCall {
    return new QueriedCall(header, null, { ...this.extras, preview }, this.found);
  }

  /** The same call with more known of it. */
  with(extras: Extras): QueriedCall {
    return new QueriedCall(this.header, this.payload, { ...this.extras, ...extras }, this.found);
  }

  /** What a path leads to; undefined if it leads nowhere. What it requires must be there. */
  value(path: FieldPath): Value {
    if (path.text === sourcePath) return this.#value(path) ?? getSource(this.header.start);
    return this.#value(path);
  }

  #value(path: FieldPath): Value {
    const { field, steps } = path;
    if (field === 'summary' && steps[0] === serviceName) return this.#serviceValue(steps);
    if (field === 'summary' && steps[0] === 'usage') return this.#usage(path);
    if (field === 'attributes' && !this.#hasField(field)) return this.#attribute(path);
    if (isPayloadColumn(field)) return valueAt(this.#field(field), steps);
    if (field === feedbackField) return feedbackAt(this.extras.feedback ?? [], steps);
    if (field === previewColumn) return valueAt(this.#preview, steps);
    if (field === sizeColumn) return valueAt(storageSize(this.header), steps);
    if (field === totalSizeColumn) return valueAt(this.extras.totalSize, steps);
    return valueAt(headerValue(this.header, field), steps);
  }

  /**
   * A column as JSON text. What is stored as JSON is not parsed for it.
   *
   * @param expanded whether replaced refs show what they lead to
   * @param names what fields of the summary are called
   */
  json(column: string, expanded: boolean, names: FieldNames = ownNames): string {
    const { expanded: replaced } = this.extras;
    if (column === sizeColumn || column === totalSizeColumn) return String(this.column(column, expanded));
    if (column === previewColumn) return JSON.stringify(this.#preview);
    if (expanded && isPayloadColumn(column) && replaced?.[column] !== undefined)
      return JSON.stringify(this.#field(column));
    return columnJson(this.header, this.payload, column, this.#added(), names);
  }

  /**
   * A column's value; null for one that is missing.
   *
   * @param expanded whether replaced refs show what they lead to
   */
  column(column: string, expanded: boolean): JsonValue {
    const isReplaced = isPayloadColumn(column) && this.extras.expanded?.[column] !== undefined;
    const row = isReplaced && !expanded ? this.with({ expanded: {} }) : this;
    return row.value(toPath(column)) ?? null;
  }

  /** What a path into the service's block leads to; the block is not made for one of its fields. */
  #serviceValue(steps: readonly string[]): Value {
    const field = steps[1];
    const own = field === undefined ? undefined : this.#ownField(field);
    if (own === undefined) return valueAt(this.#serviceBlock(), steps.slice(1));
    return steps.length === 2 ? own : valueAt(own, steps.slice(2));
  }

  /** A field of the service's block that the header has. */
  #ownField(field: string): JsonValue | undefined {
    if (field === 'status' && this.#failedBelow) return failedBelow;
    return serviceField(this.header, field);
  }

  #serviceBlock(): JsonObject {
    return { ...serviceSummary(this.header), ...this.#added() };
  }

  /** What the service's block has of what was fetched. */
  #added(): JsonObject {
    const { costs, feedback, ofTrace } = this.extras;
    return {
      ...(this.#failedBelow && { status: failedBelow }),
      ...(costs && { costs }),
      ...(feedback && { feedback }),
      ...(ofTrace && { trace_totals: ofTrace.totals }),
    };
  }

  /** Whether it is known of a root that did not fail that a call below it did. */
  get #failedBelow(): boolean {
    return this.extras.ofTrace?.hasErrorsBelow === true && this.header.end?.status !== 'error';
  }

  /** The tokens that models took, by model; undefined when the call does not say. */
  get usage(): JsonValue | undefined {
    const { end } = this.header;
    if (!end || end.usage === null) return undefined;
    return end.usage === true ? valueAt(this.#field('summary'), ['usage']) : end.usage;
  }

  #usage({ steps }: FieldPath): Value {
    const { end } = this.header;
    return end?.usage === true ? valueAt(this.#field('summary'), steps) : valueAt(this.usage, steps.slice(1));
  }

  #hasField(field: PayloadField): boolean {
    return this.payload !== null || this.extras.expanded?.[field] !== undefined;
  }

  /** What a path leads to in the attributes that the header has. */
  #attribute({ text, steps }: FieldPath): Value {
    const { start } = this.header;
    const name = headerAttributeAt(text);
    if (name === undefined) return valueAt(knownAttributes(start), steps);
    const value = start.attributes[name];
    return value === true ? undefined : value;
  }

  /** Made of the payload as it was reported, whatever is expanded. */
  get #preview(): JsonObject | null {
    const made = this.#previewed ?? (this.payload ? previewOfPayload(this.payload) : this.extras.preview);
    if (made) this.#previewed ??= { ...made };
    return this.#previewed ?? null;
  }

  /** A field of the payload; of a summary without its payload, what the header has of it. */
  #field(field: PayloadField): JsonValue {
    this.#parsed ??= new Map();
    const known = this.#parsed.get(field);
    if (known !== undefined) return known;
    const own = this.extras.expanded?.[field] ?? (parseJson(this.payload?.[field] ?? 'null') as JsonValue);
    const value = field === 'summary' ? this.#wholeSummary(own) : own;
    this.#parsed.set(field, value);
    return value;
  }

  #wholeSummary(own: JsonValue): JsonObject {
    const usage = this.header.end?.usage;
    const known = this.payload === null && isJsonObject(usage) ? { usage } : {};
    return { ...known, ...(isJsonObject(own) ? own : {}), [serviceName]: this.#serviceBlock() };
  }
}

/** Stands for every type. */
const anyType = '*';

/**
 * What a path leads to in the feedback on a call: `[<type>, 'payload', …]`, or another field of a
 * record. Of several records the latest that has a value there counts.
 *
 * @param records as they are answered, oldest first
 */
export const feedbackAt = (records: readonly JsonValue[], [type, ...steps]: readonly string[]): Value => {
  const found = records
    .filter(isJsonObject)
    .filter((record) => type === anyType || record.feedback_type === type)
    .map((record) => valueAt(record, steps));
  return found.findLast((value) => value !== undefined && value !== null);
};

const isWhole = ({ paths }: Projection): boolean => paths.some(({ steps }) => steps.length === 0);

/**
 * Makes the encoder of calls as JSON text with the columns that were asked for.
 *
 * @param names what fields are called in the answer
 */
export const jsonEncoder = (
  query: Pick<CallsQuery, 'columns' | 'includes' | 'returnExpanded' | 'userNameColumn'>,
  names: FieldNames = ownNames,
): ((row: QueriedCall) => string) => {
  const { returnExpanded, userNameColumn } = query;
  const columns = toProjection(query).map((projection) => ({
    column: projection.column,
    key: JSON.stringify(names[projection.column] ?? projection.column),
    steps: isWhole(projection) ? null : projection.paths.map(({ steps }) => steps),
  }));
  const pickNamed = (value: JsonValue, column: string, steps: readonly (readonly string[])[]): JsonValue => {
    const picked = pick(value, steps);
    return column === 'summary' ? renamedSummary(picked, names) : picked;
  };
  return (row) => {
    const fields = columns.map(({ column, key, steps }) => {
      const text = steps
        ? JSON.stringify(pickNamed(row.column(column, returnExpanded), column, steps))
        : row.json(column, returnExpanded, names);
      return `${key}:${text}`;
    });
    if (userNameColumn)
      fields.push(`${JSON.stringify(userNameColumn)}:${JSON.stringify(row.header.start.userId)}`);
    return `{${fields.join(',')}}`;
  };
};

/** Calls as lines of CSV (RFC 4180, without their line breaks). */
interface CsvEncoder {
  readonly header: string;
  readonly line: (row: QueriedCall) => string;
}

/** Makes the encoder of calls as CSV. A path that was asked for has a column of its own. */
export const csvEncoder = (query: CallsQuery): CsvEncoder => {
  const columns = toProjection(query).flatMap((projection) => {
    const { column, paths } = projection;
    const texts = isWhole(projection) ? [column] : paths.map(({ text }) => text);
    return [...new Set(texts)].map((text) => ({ column, path: toPath(text) }));
  });
  return {
    header: csvLine(columns.map(({ path }) => path.text)),
    line: (row) =>
      csvLine(
        columns.map(({ column, path }) => valueAt(row.column(column, query.returnExpanded), path.steps)),
      ),
  };
};
