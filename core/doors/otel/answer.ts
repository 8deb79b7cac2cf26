import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import type { Rejection } from './decode/spans.ts';

/** The encodings of requests and answers, as media types. */
export type Encoding = 'application/x-protobuf' | 'application/json';

/** How many reasons an answer names. The rest is counted. */
const maxReasons = 20;

/** Why something was not taken, in a sentence for each reason. */
export const toMessage = (rejected: readonly Rejection[], what: string): string => {
  const lines = rejected
    .slice(0, maxReasons)
    .map(({ count, reason }) => (count === 1 ? reason : `${count} ${what}: ${reason}`));
  const more = rejected.length - lines.length;
  return [...lines, ...(more > 0 ? [`and ${more} more reasons`] : [])].join('; ');
};

const jsonBytes = (value: object): Uint8Array => Buffer.from(`${JSON.stringify(value)}\n`);

/**
 * A message of a number and a text, in the fields 1 and 2. That is a partial success of all signals, and a
 * status.
 */
const numberAndText = (number: number, text: string): BinaryWriter =>
  new BinaryWriter().tag(1, WireType.Varint).int64(number).tag(2, WireType.LengthDelimited).string(text);

/** The fields of a partial success are the same for all signals, but for a name that JSON has. */
const answerMaker =
  (what: string, rejectedField: string) =>
  (encoding: Encoding, rejected: readonly Rejection[]): Uint8Array => {
    const count = rejected.reduce((sum, rejection) => sum + rejection.count, 0);
    const errorMessage = toMessage(rejected, what);
    if (encoding === 'application/json')
      // A 64-bit integer is text in proto3's JSON.
      return jsonBytes(count > 0 ? { partialSuccess: { [rejectedField]: String(count), errorMessage } } : {});
    if (count === 0) return new Uint8Array();
    const partialSuccess = numberAndText(count, errorMessage).finish();
    return new BinaryWriter().tag(1, WireType.LengthDelimited).bytes(partialSuccess).finish();
  };

/**
 * Encodes an `ExportTraceServiceResponse`. Without rejected spans it is empty: `{}`, or no bytes.
 * Source: https://opentelemetry.io/docs/specs/otlp/#otlphttp-response
 */
export const encodeAnswer = answerMaker('spans', 'rejectedSpans');

/** Encodes an `ExportLogsServiceResponse`, likewise. */
export const encodeLogsAnswer = answerMaker('log records', 'rejectedLogRecords');

/** Encodes an `ExportMetricsServiceResponse`, likewise. */
export const encodeMetricsAnswer = answerMaker('data points', 'rejectedDataPoints');

/** The codes of `google.rpc.Code` for the statuses that are answered. */
const codes: Readonly<Record<number, number>> = {
  400: 3,
  401: 16,
  403: 7,
  413: 8,
  415: 3,
  429: 8,
  500: 13,
  503: 14,
};
const unknownCode = 2;

/** Encodes the `google.rpc.Status` of an error: its code, and what to do about it. */
export const encodeStatus = (encoding: Encoding, httpStatus: number, message: string): Uint8Array => {
  const status = { code: codes[httpStatus] ?? unknownCode, message };
  return encoding === 'application/json' ? jsonBytes(status) : numberAndText(status.code, message).finish();
};
