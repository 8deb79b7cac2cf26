import { join } from 'node:path';
import { beforeAll } from 'vitest';
import { suiteIn } from './suite.ts';

/** What the suite says of a table that its tests share. */
interface SharedTable {
  readonly name: string;
  readonly gsis?: readonly { readonly rangeKey?: object }[];
}

/*
 * Makes the tables that the suite's tests share, in place of the suite's own setup. That provisions capacity and
 * makes local indexes, and indexes without a sort key, and no test would run if one of them is refused. Here
 * they are left out, so the tests about them fail, and the others say what they are about.
 */
beforeAll(async () => {
  const { createTable, ...exported } = await import(join(suiteIn(process.env), 'src/helpers.ts'));
  const shared = Object.entries<SharedTable>(exported).filter(([name]) => name.endsWith('TableDef'));
  const made = shared.map(([, table]) =>
    createTable({
      ...table,
      billingMode: 'PAY_PER_REQUEST',
      lsis: [],
      gsis: table.gsis?.filter(({ rangeKey }) => rangeKey) ?? [],
    }),
  );
  // Tables with keys that are numbers are refused.
  await Promise.allSettled(made);
});
