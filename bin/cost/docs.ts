import { loadOf } from './load.ts';
import type { Measured } from './measured.ts';
import {
  batchTable,
  billTable,
  growthTable,
  priceTable,
  serverTable,
  streamsTable,
  type Table,
  toMarkdown,
  visitTable,
} from './tables.ts';

/** The tables of docs/cost.md by name, all for the default load except where stated. */
const tables: Readonly<Record<string, (measured: Measured) => Table>> = {
  bill: (measured) => billTable(loadOf(), measured),
  apart: (measured) => billTable(loadOf({ apart: 1 }), measured),
  growth: (measured) => growthTable(loadOf(), measured),
  batch: (measured) => batchTable(loadOf(), measured),
  visits: (measured) => visitTable(loadOf(), measured),
  streams: (measured) => streamsTable(loadOf(), measured),
  servers: (measured) => serverTable(loadOf(), measured),
  prices: () => priceTable(),
};

/** A table's section: `<!-- table: name -->`, the table, `<!-- end -->`. */
const section = /<!-- table: (\w+) -->\n[\s\S]*?<!-- end -->/g;

/**
 * Updates the tables in the text of docs/cost.md.
 *
 * @throws Error if it has a section for an unknown table
 */
export const docsWith = (text: string, measured: Measured): string =>
  text.replace(section, (_, name: string) => {
    const table = tables[name];
    if (!table) throw new Error(`docs/cost.md has a section for the unknown table "${name}"`);
    return `<!-- table: ${name} -->\n${toMarkdown(table(measured))}\n<!-- end -->`;
  });
