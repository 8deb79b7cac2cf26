import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, NumberValue } from '@aws-sdk/lib-dynamodb';
import type { Table } from './table.ts';

/**
 * A number as a plain one where that has the same digits. Others keep their text: a copy of an item
 * must be the same to the last digit.
 */
export const exactNumber = (text: string): number | NumberValue => {
  const number = Number(text);
  return String(number) === text ? number : NumberValue.from(text);
};

const clients = new WeakMap<DynamoDBClient, DynamoDBDocumentClient>();

/**
 * The document client of a table: its commands take and give items as plain objects. It shares the
 * connections and the middleware of the table's own client, which alone is to be destroyed.
 */
export const documents = ({ client }: Pick<Table, 'client'>): DynamoDBDocumentClient => {
  const known = clients.get(client);
  if (known) return known;
  const made = DynamoDBDocumentClient.from(client, { unmarshallOptions: { wrapNumbers: exactNumber } });
  clients.set(client, made);
  return made;
};
