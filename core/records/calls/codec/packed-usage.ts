import type { ByteReader, ByteWriter } from '../../../foundations/encoding/index.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../foundations/wire/index.ts';
import { nameAt, numberOfName } from './usage-names.ts';

/*
 * Most `summary.usage` values consist of the same few names, in each of the header's three or four
 * rows. So an object is a list of fields, each a byte for its name and then its value. What nearly
 * always holds takes that byte alone: one request, and a total that is the sum.
 */

/** What the first byte of a field says; from `named` on it is a common name, by its number. */
const [lastField, oneRequest, sumOfTokens, otherName, named] = [0, 1, 2, 3, 4];

/** What a value begins with, doubled. An odd count is a whole number, doubled and one more. */
const [isNull, isFalse, isTrue, isObject, isList, isText, isDouble] = [0, 1, 2, 3, 4, 5, 6];
/** From here on, twice a number is no safe integer. */
const maxDoubled = 2 ** 52;

const summedNames: ReadonlySet<string> = new Set([
  'prompt_tokens',
  'completion_tokens',
  'input_tokens',
  'output_tokens',
]);

type Fields = readonly (readonly [name: string, value: JsonValue])[];

/** As `Number` gives it, which stored headers have been summed by: NaN if there is no number. */
const numberOf = (value: JsonValue): number => {
  try {
    return Number(value);
  } catch {
    // An object with a field `toString`: it cannot be made a number of.
    return Number.NaN;
  }
};

const sumOf = (fields: Fields): number =>
  fields.reduce((sum, [name, value]) => (summedNames.has(name) ? sum + numberOf(value) : sum), 0);

const writeNumber = (writer: ByteWriter, value: number): void => {
  if (Number.isSafeInteger(value) && value >= 0 && value < maxDoubled) writer.count(2 * value + 1);
  else {
    writer.count(2 * isDouble);
    writer.double(value);
  }
};

const writeValue = (writer: ByteWriter, value: JsonValue): void => {
  if (typeof value === 'number') writeNumber(writer, value);
  else if (typeof value === 'string') {
    writer.count(2 * isText);
    writer.text(value);
  } else if (Array.isArray(value)) {
    writer.count(2 * isList);
    writer.count(value.length);
    for (const item of value) writeValue(writer, item);
  } else if (isJsonObject(value)) {
    writer.count(2 * isObject);
    writeUsage(writer, value);
  } else if (value === null || typeof value === 'boolean') {
    writer.count(2 * (value === null ? isNull : value ? isTrue : isFalse));
  } else throw new Error('a header holds no exact numbers');
};

/** @param before the fields before it */
const writeField = (writer: ByteWriter, [name, value]: Fields[number], before: Fields): void => {
  const number = numberOfName(name);
  if (name === 'requests' && value === 1) writer.byte(oneRequest);
  else if (name === 'total_tokens' && value === sumOf(before)) writer.byte(sumOfTokens);
  else {
    writer.byte(number === undefined ? otherName : named + number);
    if (number === undefined) writer.text(name);
    writeValue(writer, value);
  }
};

/** Writes the usage of a header. It has neither exact numbers nor lone surrogates. */
export const writeUsage = (writer: ByteWriter, usage: JsonObject): void => {
  const fields = Object.entries(usage);
  for (const [i, field] of fields.entries()) writeField(writer, field, fields.slice(0, i));
  writer.byte(lastField);
};

const readValue = (reader: ByteReader): JsonValue => {
  const count = reader.count();
  if (count % 2 === 1) return (count - 1) / 2;
  switch (count / 2) {
    case isNull:
      return null;
    case isFalse:
    case isTrue:
      return count / 2 === isTrue;
    case isObject:
      return readUsage(reader);
    case isList:
      return Array.from({ length: reader.count() }, () => readValue(reader));
    case isText:
      return reader.text();
    case isDouble:
      return reader.double();
  }
  throw new Error(`a header whose usage has a value of the unknown kind ${count / 2}`);
};

/**
 * Undoes {@link writeUsage}.
 *
 * @throws Error if a later release wrote a name's number or a value
 */
export const readUsage = (reader: ByteReader): JsonObject => {
  const fields: [string, JsonValue][] = [];
  for (let first = reader.byte(); first !== lastField; first = reader.byte()) {
    if (first === oneRequest) fields.push(['requests', 1]);
    else if (first === sumOfTokens) fields.push(['total_tokens', sumOf(fields)]);
    else fields.push([first === otherName ? reader.text() : nameAt(first - named), readValue(reader)]);
  }
  // Unlike assignment, this makes `__proto__` a field too.
  return Object.fromEntries(fields);
};
