import { type FieldPath, type Value, valueAt } from '../../foundations/expression/index.ts';
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parseJson,
  type WireNames,
} from '../../foundations/wire/index.ts';
import {
  type CallHeader,
  columnJson,
  headerValue,
  isPayloadColumn,
  type Payload,
  type PayloadField,
  type StoredCall,
  serviceField,
  serviceSummary,
  storageSize,
} from '../../records/calls/index.ts';
import { feedbackAt } from './feedback.ts';
import { feedbackField, sizeColumn, totalSizeColumn } from './fields.ts';

/** What has been fetched of a call beside its header and payload. */
export interface Extras {
  readonly costs?: JsonObject;
  readonly feedback?: JsonValue[];
  /** The bytes of all calls of its trace. */
  readonly totalSize?: number;
  /** Payload fields, with refs replaced by what they lead to. */
  readonly expanded?: Readonly<Partial<Record<PayloadField, JsonValue>>>;
}

const none: Extras = {};

/** A call on its way through a query: its header, and what has been fetched of the rest. */
export class CallRow {
  readonly header: CallHeader;
  /** Null until it is fetched. */
  readonly payload: Payload | null;
  readonly extras: Extras;
  /** The header that it was found with. It differs when the call was reported again meanwhile. */
  readonly found: CallHeader;
  readonly #names: WireNames;
  #parsed: Map<PayloadField, JsonValue> | undefined;

  constructor(
    names: WireNames,
    header: CallHeader,
    payload: Payload | null = null,
    extras: Extras = none,
    found = header,
  ) {
    this.#names = names;
    this.header = header;
    this.payload = payload;
    this.extras = extras;
    this.found = found;
  }

  /** The same call as it was read with its payload. */
  readAs({ header, payload }: StoredCall): CallRow {
    return new CallRow(this.#names, header, payload, this.extras, this.found);
  }

  /** The same call with more known of it. */
  with(extras: Extras): CallRow {
    return new CallRow(this.#names, this.header, this.payload, { ...this.extras, ...extras }, this.found);
  }

  /** What a path leads to; undefined if it leads nowhere. What it requires must be there. */
  value(path: FieldPath): Value {
    const { field, steps } = path;
    if (field === 'summary' && steps[0] === this.#names.service) return this.#serviceValue(steps);
    if (field === 'summary' && steps[0] === 'usage') return this.#usage(path);
    if (isPayloadColumn(field)) return valueAt(this.#field(field), steps);
    if (field === feedbackField) return feedbackAt(this.extras.feedback ?? [], steps);
    if (field === sizeColumn) return valueAt(storageSize(this.header), steps);
    if (field === totalSizeColumn) return valueAt(this.extras.totalSize, steps);
    return valueAt(headerValue(this.#names, this.header, field), steps);
  }

  /**
   * A column as JSON text.
   *
   * @param expanded whether replaced refs show what they lead to
   */
  json(column: string, expanded: boolean): string {
    if (column === sizeColumn) return String(storageSize(this.header));
    if (column === totalSizeColumn) return String(this.extras.totalSize ?? null);
    if (column === 'summary' && expanded && this.extras.expanded?.summary)
      return JSON.stringify(this.#field('summary'));
    const replaced = expanded && isPayloadColumn(column) ? this.extras.expanded?.[column] : undefined;
    if (replaced !== undefined) return JSON.stringify(replaced);
    const { costs, feedback } = this.extras;
    return columnJson(this.#names, this.header, this.payload, column, {
      ...(costs && { costs }),
      ...(feedback && { feedback }),
    });
  }

  /** What a path into the service's block leads to; the block is not made for one of its fields. */
  #serviceValue([, field, ...below]: readonly string[]): Value {
    const own = field === undefined ? undefined : serviceField(this.#names, this.header, field);
    return own === undefined
      ? valueAt(this.#serviceBlock(), field === undefined ? [] : [field, ...below])
      : valueAt(own, below);
  }

  #serviceBlock(): JsonObject {
    const { costs, feedback } = this.extras;
    return {
      ...serviceSummary(this.#names, this.header),
      ...(costs && { costs }),
      ...(feedback && { feedback }),
    };
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

  #field(field: PayloadField): JsonValue {
    this.#parsed ??= new Map();
    const known = this.#parsed.get(field);
    if (known !== undefined) return known;
    const own = this.extras.expanded?.[field] ?? (parseJson(this.payload?.[field] ?? 'null') as JsonValue);
    const value =
      field === 'summary'
        ? { ...(isJsonObject(own) ? own : {}), [this.#names.service]: this.#serviceBlock() }
        : own;
    this.#parsed.set(field, value);
    return value;
  }
}
