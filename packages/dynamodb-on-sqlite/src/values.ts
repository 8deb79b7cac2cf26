import { invalid, malformed, unsupported } from './errors.ts';

/*
 * Values of attributes as they are on the wire, with DynamoDB's rules for types, numbers, order and
 * size:
 *
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/HowItWorks.NamingRulesDataTypes.html
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html
 */

/** An object of the JSON of a request. */
export type Fields = Readonly<Record<string, unknown>>;

/** A value on the wire: an object with one field, its type. Bytes are base64, numbers text. */
export type Value =
  | { readonly S: string }
  | { readonly N: string }
  | { readonly B: string }
  | { readonly BOOL: boolean }
  | { readonly NULL: true }
  | { readonly L: readonly Value[] }
  | { readonly M: Item }
  | { readonly SS: readonly string[] }
  | { readonly NS: readonly string[] }
  | { readonly BS: readonly string[] };

/** An item, or a key: values by the names of their attributes. */
export interface Item {
  readonly [name: string]: Value;
}

/** A value that has been checked, in the form in which it is stored, and its size in bytes. */
interface Checked {
  readonly value: Value;
  readonly size: number;
}

/** Whether it is a JSON object. */
export const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The objects of a list of a request. */
export const readObjects = (value: unknown, what: string): readonly Fields[] => {
  if (!Array.isArray(value)) throw malformed(`${what} is no list`);
  return value.map((one) => {
    if (isObject(one)) return one;
    throw malformed(`${what} has what is no object`);
  });
};

/** An attribute of an item; undefined if it has none of that name, whatever objects inherit. */
export const attribute = (item: Item, name: string): Value | undefined =>
  Object.hasOwn(item, name) ? item[name] : undefined;

// Numbers

/** A number without loss: `digits × 10^exponent`, without zeros at either end; 0 has no digits. */
interface Decimal {
  readonly negative: boolean;
  readonly digits: string;
  readonly exponent: number;
}

/** DynamoDB's limits: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html */
const maxDigits = 38;
const maxMagnitude = 125;
const minMagnitude = -130;

const numberForm = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,9}))?$/;

const zero: Decimal = { negative: false, digits: '', exponent: 0 };

/** Drops zeros at either end of the digits. */
const trimmed = (negative: boolean, digits: string, exponent: number): Decimal => {
  const significant = digits.replace(/^0+/, '');
  const short = significant.replace(/0+$/, '');
  if (short === '') return zero;
  return { negative, digits: short, exponent: exponent + significant.length - short.length };
};

/** @throws StoreError if a number is beyond what DynamoDB stores */
const withinRange = (number: Decimal): Decimal => {
  if (number.digits === '') return number;
  const magnitude = number.digits.length + number.exponent - 1;
  if (number.digits.length > maxDigits) throw invalid('DynamoDB only supports precision up to 38 digits');
  if (magnitude > maxMagnitude)
    throw invalid('Number overflow. Attempting to store a number with magnitude larger than supported range');
  if (magnitude < minMagnitude)
    throw invalid(
      'Number underflow. Attempting to store a number with magnitude smaller than supported range',
    );
  return number;
};

const parseNumber = (text: string): Decimal => {
  const [, sign, whole = '', fraction = '', power = '0'] = numberForm.exec(text) ?? [];
  if (sign === undefined || whole + fraction === '')
    throw invalid('A value provided cannot be converted into a number');
  return withinRange(trimmed(sign === '-', whole + fraction, Number(power) - fraction.length));
};

/** A number as DynamoDB writes it: plain digits, without an exponent. */
const formatNumber = ({ negative, digits, exponent }: Decimal): string => {
  if (digits === '') return '0';
  const sign = negative ? '-' : '';
  if (exponent >= 0) return sign + digits + '0'.repeat(exponent);
  const point = digits.length + exponent;
  if (point > 0) return `${sign}${digits.slice(0, point)}.${digits.slice(point)}`;
  return `${sign}0.${'0'.repeat(-point)}${digits}`;
};

/**
 * A byte per two digits, as pairs from the decimal point on, without pairs of zeros at either end; one
 * more, and one for a minus sign.
 */
const numberSize = ({ negative, digits, exponent }: Decimal): number => {
  if (digits === '') return 1;
  const pairs = Math.floor((digits.length + exponent - 1) / 2) - Math.floor(exponent / 2) + 1;
  return pairs + 1 + (negative ? 1 : 0);
};

/** Most numbers are small and whole, and written as DynamoDB writes them. */
const plainForm = /^(?:0|[1-9]\d{0,14})$/;

const checkNumber = (value: { readonly N: string }): Checked => {
  const text = value.N;
  if (plainForm.test(text)) return { value, size: numberSize(trimmed(false, text, 0)) };
  const number = parseNumber(text);
  return { value: { N: formatNumber(number) }, size: numberSize(number) };
};

/** The digits of a number as an integer, with an exponent that is not above its own. */
const scaled = ({ negative, digits, exponent }: Decimal, to: number): bigint => {
  const whole = BigInt(digits === '' ? 0 : digits + '0'.repeat(exponent - to));
  return negative ? -whole : whole;
};

/** The difference `a - b`, or their sum, as an integer and its exponent. */
const combined = (a: Decimal, b: Decimal, sign: 1n | -1n): readonly [bigint, number] => {
  const exponent = Math.min(a.exponent, b.exponent);
  return [scaled(a, exponent) + sign * scaled(b, exponent), exponent];
};

/**
 * The sum of two numbers.
 *
 * @throws StoreError if it is beyond what DynamoDB stores
 */
export const addNumbers = (a: string, b: string): string => {
  const [sum, exponent] = combined(parseNumber(a), parseNumber(b), 1n);
  const digits = (sum < 0n ? -sum : sum).toString();
  return formatNumber(withinRange(trimmed(sum < 0n, digits, exponent)));
};

const compareNumbers = (a: string, b: string): number => {
  const [difference] = combined(parseNumber(a), parseNumber(b), -1n);
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
};

// Checking

const base64Form = /^[A-Za-z0-9+/]*={0,2}$/;

/** The length of bytes in base64; undefined if it is no base64. */
const base64Size = (text: string): number | undefined => {
  if (text.length % 4 !== 0 || !base64Form.test(text)) return undefined;
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  return (text.length / 4) * 3 - padding;
};

const types = new Set(['S', 'N', 'B', 'BOOL', 'NULL', 'L', 'M', 'SS', 'NS', 'BS']);

/** DynamoDB's limit of lists and maps within each other. */
const maxDepth = 32;

/** DynamoDB's limit of the name of an attribute, in bytes. */
const maxNameBytes = 65_535;

/** What is wrong with the name of an attribute; undefined if it is one. */
export const nameProblem = (name: string): string | undefined => {
  if (name === '') return 'Empty attribute name';
  // No character has more than three bytes for each of its units.
  if (name.length * 3 <= maxNameBytes || Buffer.byteLength(name) <= maxNameBytes) return undefined;
  return `Attribute name is too large, must be less than ${maxNameBytes + 1} bytes`;
};

/** @throws StoreError if an attribute cannot have this name */
const requireAttributeName = (name: string): void => {
  const problem = nameProblem(name);
  if (problem !== undefined) throw invalid(problem);
};

const checkBinary = (value: { readonly B: string }): Checked => {
  const size = base64Size(value.B);
  if (size === undefined) throw malformed('a value of the type B is no base64');
  return { value, size };
};

const checkList = (elements: readonly unknown[], depth: number): Checked => {
  const checked = elements.map((element) => checkValue(element, depth + 1));
  const size = checked.reduce((sum, one) => sum + 1 + one.size, 3);
  return { value: { L: checked.map(({ value }) => value) }, size };
};

const checkMap = (fields: Fields, depth: number): Checked => {
  let size = 3;
  const entries = Object.entries(fields).map(([name, field]) => {
    requireAttributeName(name);
    const checked = checkValue(field, depth + 1);
    size += 1 + Buffer.byteLength(name) + checked.size;
    return [name, checked.value] as const;
  });
  return { value: { M: Object.fromEntries(entries) }, size };
};

/** Checks a set by the type of its elements: some of one type, each once. */
const checkSet = (type: 'S' | 'N' | 'B', elements: readonly unknown[]): Checked => {
  if (elements.length === 0)
    throw invalid(`One or more parameter values were invalid: An ${setNames[type]} set  may not be empty`);
  const checked = elements.map((element) => checkValue({ [type]: element }));
  const texts = checked.map(({ value }) => String(Object.values(value)[0]));
  if (new Set(texts).size < texts.length) throw invalid(duplicates[type](elements.join(', ')));
  const size = checked.reduce((sum, one) => sum + one.size, 0);
  if (type === 'S') return { value: { SS: texts }, size };
  return { value: type === 'N' ? { NS: texts } : { BS: texts }, size };
};

const setNames = { S: 'string', N: 'number', B: 'binary' } as const;

const ofParameter = 'One or more parameter values were invalid:';

const duplicates = {
  S: (elements: string) => `${ofParameter} Input collection [${elements}] contains duplicates`,
  N: () => 'Input collection contains duplicates',
  B: () => `${ofParameter} Input collection of type BS contains duplicates.`,
} as const;

/**
 * Checks a value of a request.
 *
 * @throws StoreError if DynamoDB has no such value
 */
const checkValue = (value: unknown, depth = 0): Checked => {
  if (!isObject(value)) throw malformed('a value of an attribute has to be an object with its type');
  if (depth >= maxDepth)
    throw invalid(
      'Nesting Levels have exceeded supported limits: ' +
        'Attributes in the item have nested levels beyond supported limit',
    );
  const [type, ...others] = Object.keys(value);
  if (others.length > 0)
    throw invalid(
      'Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes',
    );
  const { S, N, B, BOOL, NULL, L, M, SS, NS, BS } = value;
  if (typeof B === 'string') return checkBinary({ B });
  if (typeof S === 'string') return { value: { S }, size: Buffer.byteLength(S) };
  if (typeof N === 'string') return checkNumber({ N });
  if (typeof BOOL === 'boolean') return { value: { BOOL }, size: 1 };
  if (NULL === true) return { value: { NULL }, size: 1 };
  if (NULL === false)
    throw invalid(
      'One or more parameter values were invalid: Null attribute value types must have the value of true',
    );
  if (Array.isArray(L)) return checkList(L, depth);
  if (isObject(M)) return checkMap(M, depth);
  if (Array.isArray(SS)) return checkSet('S', SS);
  if (Array.isArray(NS)) return checkSet('N', NS);
  if (Array.isArray(BS)) return checkSet('B', BS);
  if (type !== undefined && types.has(type)) throw malformed(`a value of the type ${type} is none`);
  throw invalid('Supplied AttributeValue is empty, must contain exactly one of the supported datatypes');
};

/** A value of a request, in the form in which it is stored, and its size in bytes. */
export const toSizedValue = (value: unknown): Checked => checkValue(value);

/** An item that has been checked, and its size in bytes: names and values of its attributes. */
export interface SizedItem {
  readonly item: Item;
  readonly size: number;
}

/** Checks an item or a key of a request. */
export const toItem = (fields: unknown): SizedItem => {
  if (!isObject(fields)) throw malformed('an item or a key has to be an object');
  let size = 0;
  const item: Record<string, Value> = {};
  for (const name of Object.keys(fields)) {
    requireAttributeName(name);
    const checked = checkValue(fields[name]);
    size += Buffer.byteLength(name) + checked.size;
    if (name === '__proto__') throw unsupported('attributes of the name __proto__');
    item[name] = checked.value;
  }
  return { item, size };
};

/** The size of an attribute of an item that was checked before, in bytes. */
export const attributeSize = (name: string, value: Value): number =>
  Buffer.byteLength(name) + checkValue(value).size;

/** The size of an item that was checked before, in bytes. */
export const itemSize = (item: Item): number =>
  Object.entries(item).reduce((sum, [name, value]) => sum + attributeSize(name, value), 0);

// Order

/** The type of a key attribute: text or bytes. */
export type KeyType = 'S' | 'B';

/** A key attribute's value as bytes, which sort as DynamoDB's do; undefined if it has another type. */
export const keyBytes = (value: Value, type: KeyType): Buffer | undefined => {
  if (type === 'B') return 'B' in value ? Buffer.from(value.B, 'base64') : undefined;
  return 'S' in value ? Buffer.from(value.S) : undefined;
};

/** The bytes of text or bytes. */
const toBytes = (value: { readonly S: string } | { readonly B: string }): Buffer =>
  'S' in value ? Buffer.from(value.S) : Buffer.from(value.B, 'base64');

/** Whether a value is of a type that has an order: text, a number or bytes. */
export const isOrdered = (value: Value): boolean => 'S' in value || 'N' in value || 'B' in value;

/** Compares two values: below zero if the first is less; undefined if they are of two types. */
export const compareValues = (a: Value, b: Value): number | undefined => {
  if ('N' in a && 'N' in b) return compareNumbers(a.N, b.N);
  if (('S' in a && 'S' in b) || ('B' in a && 'B' in b)) return Buffer.compare(toBytes(a), toBytes(b));
  return undefined;
};

/** Whether text or bytes begin with others. */
export const beginsWith = (value: Value, prefix: Value): boolean => {
  if (!('S' in value && 'S' in prefix) && !('B' in value && 'B' in prefix)) return false;
  const start = toBytes(prefix);
  return toBytes(value).subarray(0, start.length).equals(start);
};

const sameSet = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((element) => b.includes(element));

/** Whether two values are the same, in whatever order maps have their attributes. */
export const sameValue = (a: Value, b: Value): boolean => {
  if ('L' in a && 'L' in b)
    return (
      a.L.length === b.L.length &&
      a.L.every((element, i) => {
        const other = b.L[i];
        return other !== undefined && sameValue(element, other);
      })
    );
  if ('M' in a && 'M' in b) return sameItem(a.M, b.M);
  if ('BOOL' in a && 'BOOL' in b) return a.BOOL === b.BOOL;
  if ('NULL' in a && 'NULL' in b) return true;
  if ('SS' in a && 'SS' in b) return sameSet(a.SS, b.SS);
  if ('NS' in a && 'NS' in b) return sameSet(a.NS, b.NS);
  if ('BS' in a && 'BS' in b) return sameSet(a.BS, b.BS);
  return compareValues(a, b) === 0;
};

/** Whether two items have the same attributes. */
export const sameItem = (a: Item, b: Item): boolean => {
  const names = Object.keys(a);
  return (
    names.length === Object.keys(b).length &&
    names.every((name) => {
      const one = attribute(a, name);
      const other = attribute(b, name);
      return one !== undefined && other !== undefined && sameValue(one, other);
    })
  );
};
