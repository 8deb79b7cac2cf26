/**
 * The figures in `figures.json`: a test fails where the code's are others. Written anew by
 *
 *     npm run bench:guard
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Figure } from './figures.ts';

/** Figures by `<group>: <name>`, with their units behind them. */
export type Kept = Readonly<Record<string, readonly [value: number, unit: string]>>;

const file = join(import.meta.dirname, '../figures.json');
/** What writes the file anew. */
export const rewriteCommand = 'npm run bench:guard';

/** Enough digits to see any change that matters, and few enough to read. */
const kept = (value: number): number => Number(value.toPrecision(5));

/** Figures in the form that they are kept in: what they are the sum of stands beside them. */
export const toKept = (groups: Readonly<Record<string, readonly Figure[]>>): Kept =>
  Object.fromEntries(
    Object.entries(groups).flatMap(([group, figures]) =>
      figures.flatMap(({ name, unit, median, of = {} }) => [
        [`${group}: ${name}`, [kept(median), unit]],
        ...Object.entries(of).map(([part, value]) => [`${group}: ${name}, ${part}`, [kept(value), unit]]),
      ]),
    ),
  );

/** The figures that are kept. */
export const readKept = (): Kept => JSON.parse(readFileSync(file, 'utf8')) as Kept;

/**
 * How much a figure may differ from the one that is kept. Units and requests are counted, and none
 * more is by chance. Bytes depend on how zstd and esbuild do their work, which a patch release of
 * Node may change.
 */
const toleranceOf = (unit: string): number => (/bytes|JSON/.test(unit) ? 0.02 : 0.001);

/** What is not as it is kept, a line each, with what to do; none where all is. */
export const differences = (before: Kept, now: Kept): string[] => {
  const names = [...new Set([...Object.keys(before), ...Object.keys(now)])];
  return names.flatMap((name) => {
    const [old, unit = ''] = before[name] ?? [];
    const [value, newUnit = unit] = now[name] ?? [];
    if (old === undefined) return [`${name}: is new, ${value} ${newUnit}`];
    if (value === undefined) return [`${name}: was ${old} ${unit} and is gone`];
    if (Math.abs(value - old) <= toleranceOf(unit) * Math.abs(old) + Number.EPSILON) return [];
    return [`${name}: ${value > old ? 'grew' : 'shrank'} from ${old} to ${value} ${unit}`];
  });
};

/** The end of a message about differences. */
export const advice = `If that is meant, write bench/figures.json anew with \`${rewriteCommand}\` and commit it.`;

/** Writes the file anew, a figure a line. */
export const writeKept = (figures: Kept): void => {
  const lines = Object.entries(figures).map(
    ([name, figure]) =>
      `  ${JSON.stringify(name)}: [${figure.map((part) => JSON.stringify(part)).join(', ')}]`,
  );
  writeFileSync(file, `{\n${lines.join(',\n')}\n}\n`);
};
