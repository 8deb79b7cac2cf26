import { buffer } from 'node:stream/consumers';
import type { QueryCommand } from '@aws-sdk/lib-dynamodb';
import { exactNumber } from './documents.ts';
import type { Item, Value } from './item.ts';

/*
 * The SDK makes two objects of every attribute, each by way of a schema and several calls. A scan
 * of headers spends more time on that than on the headers. So the items of a query's answer are
 * read here, from the JSON that DynamoDB's API writes. The SDK reads all else of the answer,
 * errors included.
 *
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Programming.LowLevelAPI.html
 */

/** An attribute's value on the wire, e.g. `{"B": "<base64>"}`. */
type WireValue = Readonly<Record<string, unknown>>;
/** An item on the wire. */
export type WireItem = Readonly<Record<string, WireValue>>;

/**
 * Reads an attribute's value.
 *
 * @throws Error if it is of a type that items do not have: a set
 */
const fromWire = (wire: WireValue): Value => {
  if (wire.B !== undefined) return Buffer.from(wire.B as string, 'base64');
  if (wire.S !== undefined) return wire.S as string;
  if (wire.N !== undefined) return exactNumber(wire.N as string);
  if (wire.BOOL !== undefined) return wire.BOOL as boolean;
  if (wire.NULL !== undefined) return null;
  if (wire.L !== undefined) return (wire.L as WireValue[]).map(fromWire);
  if (wire.M !== undefined) return itemFromWire(wire.M as WireItem);
  throw new Error(`no item may hold a value of the type ${Object.keys(wire)}`);
};

/**
 * Reads an item.
 *
 * @throws Error if an attribute is of a type that items do not have: a set
 */
export const itemFromWire = (wire: WireItem): Item => {
  const item: Record<string, Value> = {};
  for (const name in wire) {
    const value = wire[name];
    if (value !== undefined) item[name] = fromWire(value);
  }
  return item;
};

/** The answer to a request, as far as it is read here. */
interface HttpAnswer {
  readonly statusCode: number;
  body: unknown;
}

/** The body of a query's answer, parsed; undefined if it is no JSON, which the SDK reports. */
const parsed = (bytes: Buffer): { Items?: readonly WireItem[] } | undefined => {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    return undefined;
  }
};

/**
 * Has a query's items read here.
 *
 * @returns what gives the items of the last answer
 */
export const rawItems = (command: QueryCommand): (() => Item[]) => {
  let items: Item[] = [];
  command.middlewareStack.add(
    (next) => async (args) => {
      const result = await next(args);
      const response = result.response as HttpAnswer;
      if (response.statusCode !== 200) return result;
      const bytes =
        response.body instanceof Uint8Array
          ? Buffer.from(response.body)
          : await buffer(response.body as NodeJS.ReadableStream);
      const { Items, ...rest } = parsed(bytes) ?? {};
      items = Items?.map(itemFromWire) ?? [];
      response.body = Items ? Buffer.from(JSON.stringify(rest)) : bytes;
      return result;
    },
    // Between the SDK's reading of the answer and its sending of the request.
    { step: 'deserialize', priority: 'low', name: 'rawItems', override: true },
  );
  return () => items;
};
