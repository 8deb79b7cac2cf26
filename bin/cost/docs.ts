import { loadOf } from './load.ts';
import type { Measured } from './measured.ts';
import {
  batchTable,
  billTable,
  growthTable,
  priceTable,
  serverTable,
  type Table,
  toMarkdown,
} from './tables.ts';

/**
 * The tables of docs/cost.md, by the name that stands in the comment above each: all for the load
 * that the command has by default.
 */
const tables: Readonly<Record<string, (measured: Measured) => Table>> = {
  bill: (measured) => billTable(loadOf(), measured),
  apart: (measured) => billTable(loadOf({ apart: 1 }), measured),
  growth: (measured) => growthTable(loadOf(), measured),
  batch: (measured) => batchTable(loadOf(), measured),
  servers: (measured) => serverTable(loadOf(), measured),
  prices: () => priceTable(),
};

/** A place for a table: `<!-- table: name -->`, the table, `<!-- end -->`. */
const place = /<!-- table: (\w+) -->\n[\s\S]*?<!-- end -->/g;

/**
 * The text of docs/cost.md with its tables made anew.
 *
 * @throws Error where it has a place for a table that there is none of
 */
export const docsWith = (text: string, measured: Measured): string =>
  text.replace(place, (_, name: string) => {
    const table = tables[name];
    if (!table) throw new Error(`docs/cost.md has a place for a table "${name}", which there is none of`);
    return `<!-- table: ${name} -->\n${toMarkdown(table(measured))}\n<!-- end -->`;
  });
