/**
 * The recorded figures in `figures.json`. A test fails if the code's figures differ. They are
 * updated by
 *
 *     npm run bench:guard
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Figure } from './figures.ts';

/** Figures by `<group>: <name>`, each with its unit. */
export type RecordedFigures = Readonly<Record<string, readonly [value: number, unit: string]>>;

const file = join(import.meta.dirname, '../figures.json');
/** The command that updates the file. */
const updateCommand = 'npm run bench:guard';

/** Enough digits for changes that matter, few enough to read. */
const shortened = (value: number): number => Number(value.toPrecision(5));

/** Converts figures to the recorded form. The components of a sum become figures of their own. */
export const toRecorded = (groups: Readonly<Record<string, readonly Figure[]>>): RecordedFigures =>
  Object.fromEntries(
    Object.entries(groups).flatMap(([group, figures]) =>
      figures.flatMap(({ name, unit, median, of = {} }) => [
        [`${group}: ${name}`, [shortened(median), unit]],
        ...Object.entries(of).map(([component, value]) => [
          `${group}: ${name}, ${component}`,
          [shortened(value), unit],
        ]),
      ]),
    ),
  );

/** The figures of `bench/figures.json`. */
export const readRecorded = (): RecordedFigures => JSON.parse(readFileSync(file, 'utf8')) as RecordedFigures;

/**
 * The relative tolerance of a figure. Units and requests never vary by chance. Bytes depend on zstd
 * and esbuild, which a patch release of Node may change.
 */
const toleranceOf = (unit: string): number => (/bytes|JSON/.test(unit) ? 0.02 : 0.001);

/** The differences between recorded and new figures, one line each; empty if there are none. */
export const differences = (before: RecordedFigures, now: RecordedFigures): string[] => {
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
export const advice = `If the change is intended, update bench/figures.json with \`${updateCommand}\` and commit it.`;

/** Writes the file, one figure per line. */
export const writeRecorded = (figures: RecordedFigures): void => {
  const lines = Object.entries(figures).map(
    ([name, figure]) =>
      `  ${JSON.stringify(name)}: [${figure.map((item) => JSON.stringify(item)).join(', ')}]`,
  );
  writeFileSync(file, `{\n${lines.join(',\n')}\n}\n`);
};
