/**
 * The usual layout that the service's costs are compared with. A call is one item with its fields
 * as attributes and its JSON as it is. Four indexes project all of it, e.g. by time, trace, thread
 * and op. Sizes follow DynamoDB's rules.
 */
import { type Item, itemBytes } from '../../core/foundations/storage/index.ts';
import type { Call } from '../harness/calls.ts';
import { counted, type Figure } from '../harness/figures.ts';
import { billedOverhead, writeUnits } from '../harness/item-size.ts';

const indexCount = 4;

/** Fields as attributes: texts as they are, other values as JSON, nothing for null. */
const attributes = (fields: Readonly<Record<string, unknown>>): Item =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) =>
      value === null || value === undefined
        ? []
        : [[name, typeof value === 'string' ? value : JSON.stringify(value)]],
    ),
  );

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);

/**
 * Write units and bytes per call of the usual layout. Reported apart, the start is put and the end
 * added to it, which writes the complete item again in every index.
 */
export const naiveFigures = (calls: readonly Call[]): Figure[] => {
  const rows = 1 + indexCount;
  const starts = calls.map(({ start }) => itemBytes(attributes(start)));
  const complete = calls.map(({ start, end }) => itemBytes(attributes({ ...start, ...end })));
  const units = (sizes: readonly number[]) => (rows * sum(sizes.map(writeUnits))) / calls.length;
  return [
    counted('together: write units', 'units a call', units(complete)),
    counted('apart: write units', 'units a call', units(starts) + units(complete)),
    counted('bytes stored', 'bytes a call', (rows * sum(complete)) / calls.length),
    counted('bytes billed', 'bytes a call', rows * (sum(complete) / calls.length + billedOverhead)),
  ];
};
