/*
 * CSV as files of the page have it: RFC 4180, with texts that a spreadsheet would run as formulas
 * behind an apostrophe, which it does not show. Reading takes the apostrophe off again.
 */

/** What spreadsheets take for the beginning of a formula, unless it begins a mere number. */
const formula = /^'*(?:[=@\t\r\n＝＋－＠]|[+-](?!\d+(?:\.\d+)?(?:e[+-]?\d+)?$))/i;

const guarded = (text: string): string => (formula.test(text) ? `'${text}` : text);

/** A text without the apostrophe that guards it. */
const unguarded = (text: string): string =>
  text.startsWith("'") && formula.test(text.slice(1)) ? text.slice(1) : text;

/** A field after RFC 4180: in quotes if it holds a comma, a quote or a line break. */
const quoted = (text: string): string => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

/** A value as the service writes it: a text as it is, nothing for null, anything else as JSON. */
const csvField = (value: unknown): string => {
  if (value === undefined || value === null) return '';
  return quoted(guarded(typeof value === 'string' ? value : JSON.stringify(value)));
};

/** Values as a line of CSV, without its line break. No field is a formula. */
export const csvLine = (values: readonly unknown[]): string => values.map(csvField).join(',');

/**
 * The fields of CSV, line by line.
 *
 * @throws Error if a quote is open at the end
 */
export const csvFields = (text: string): string[][] => {
  const lines: string[][] = [];
  let fields: string[] = [];
  const token = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|\r|$)/y;
  token.lastIndex = text.startsWith('\uFEFF') ? 1 : 0;
  while (token.lastIndex < text.length) {
    const at = token.lastIndex;
    const match = token.exec(text);
    if (!match) {
      const line = text.slice(0, at).split('\n').length;
      throw new Error(
        `Line ${line} is not CSV: a field with quotes begins and ends with one, and doubles those inside.`,
      );
    }
    const [, quoted, plain = '', end] = match;
    fields.push(unguarded(quoted?.replaceAll('""', '"') ?? plain));
    if (end === ',' && token.lastIndex < text.length) continue;
    if (end === ',') fields.push('');
    // A line without anything is none.
    if (fields.length > 1 || fields[0] !== '' || quoted !== undefined) lines.push(fields);
    fields = [];
  }
  return lines;
};
