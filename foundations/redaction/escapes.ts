/*
 * Texts hold other texts: JSON in a field, a URL in JSON, HTML, the log of a terminal. Each has escapes
 * of its own. So a secret can stand beside letters and digits that belong to an escape (`\u003dsk-...`,
 * `%20AKIA...`), or have one within it (`4111%201111`, `ada&#64;example.com`). A reading is a text
 * whose escapes are undone. It knows where each of its units stood.
 */

/** From one UTF-16 unit up to another. */
export interface Range {
  readonly from: number;
  readonly to: number;
}

/** Parts what is beside something that does not show. */
const parting = '\u0001';

/** How a text is read, where it can be read in several ways. */
interface Manner {
  /** What becomes of what does not show: it parts what is beside it, or is not there. */
  readonly unseen: typeof parting | '';
  /** Whether a `+` is a space, as in the query of a URL. */
  readonly plus: boolean;
  /** Whether `%41` is an `A`, which nobody has to escape: it may as well be a percentage. */
  readonly every: boolean;
}

/** How one layer of a text is read. */
interface LayerManner extends Manner {
  /** Whether `=3D` is a `=`, as in e-mail. */
  readonly printable: boolean;
}

/** A way of escaping. */
interface Form {
  /** A regular expression without groups. */
  readonly form: string;
  /** What an escape stands for; undefined if it is none. */
  readonly undo: (found: string, manner: LayerManner) => string | undefined;
}

const hex = '[0-9A-Fa-f]';
/** Bytes of ASCII that are no letter and no digit: nobody has to escape those, and `5%4111` is none. */
const sign = `(?:[012]${hex}|3[A-Fa-f]|40|[57][B-Fb-f]|60)`;
/** Letters and digits of ASCII. */
const plain = '(?:3\\d|[46][1-9A-Fa-f]|[57][\\dAa])';
/** Bytes of UTF-8 beyond ASCII. */
const high = `[89A-Fa-f]${hex}`;

const letters: Readonly<Record<string, string>> = {
  n: '\n',
  r: '\r',
  t: '\t',
  b: '\b',
  f: '\f',
  e: '\u001b',
};

/** What HTML calls the signs that are beside secrets, or within them. */
const signNames: Readonly<Record<string, string>> = {
  amp: '&',
  apos: "'",
  colon: ':',
  comma: ',',
  commat: '@',
  dash: '-',
  equals: '=',
  gt: '>',
  hyphen: '-',
  lowbar: '_',
  lpar: '(',
  lt: '<',
  percnt: '%',
  period: '.',
  plus: '+',
  quot: '"',
  rpar: ')',
  semi: ';',
  sol: '/',
  emsp: ' ',
  ensp: ' ',
  nbsp: ' ',
  thinsp: ' ',
};
/** Those that browsers know without a `;`, too. */
const bareNames = 'amp|gt|lt|nbsp|quot';
const unseenNames: ReadonlySet<string> = new Set(['lrm', 'rlm', 'shy', 'zwj', 'zwnj', 'ZeroWidthSpace']);

const fromCode = (code: number): string | undefined =>
  code <= 0x10ffff ? String.fromCodePoint(code) : undefined;

/** Bytes, as `%E2%80%9C`: UTF-8, or else a letter each. */
const fromBytes = (percents: string): string => {
  try {
    return decodeURIComponent(percents);
  } catch {
    return percents.replaceAll(/%(..)/g, (_, byte: string) => String.fromCharCode(Number.parseInt(byte, 16)));
  }
};

const percentOfOctal = (octal: string): string => `%${Number.parseInt(octal, 8).toString(16)}`;

const fromPercents = (escaped: string): string => fromBytes(escaped.replaceAll(/%(?:25)*(?=..)/g, '%'));

/** What stands for something after backslashes. */
const fromBackslashed = (name: string): string | undefined => {
  if (/^[uU]/.test(name)) return fromCode(Number.parseInt(name.replaceAll(/[uU{}]/g, ''), 16));
  if (name.startsWith('x')) return fromBytes(name.replaceAll(/\\*x/g, '%'));
  if (/^[0-3][0-7]/.test(name))
    return name.length === 3
      ? String.fromCharCode(Number.parseInt(name, 8))
      : fromBytes(name.replaceAll(/\\*([0-7]{3})/g, (_, octal: string) => percentOfOctal(octal)));
  return letters[name] ?? (name === '' ? undefined : name);
};

const fromEntity = (name: string, { unseen }: Manner): string | undefined => {
  if (/^#[xX]/.test(name)) return fromCode(Number.parseInt(name.slice(2), 16));
  if (name.startsWith('#')) return fromCode(Number(name.slice(1)));
  return unseenNames.has(name) ? unseen : signNames[name];
};

/** All UTF-16 units from one up to another, both among them. */
const unitsIn = (ranges: readonly (readonly [from: number, to: number])[]): string =>
  ranges
    .map(([from, to]) => String.fromCharCode(...Array.from({ length: to - from + 1 }, (_, i) => from + i)))
    .join('');

/** Signs that show nothing: soft hyphens, joiners, directions, variations. */
const unseenUnits = unitsIn([
  [0xad, 0xad],
  [0x34f, 0x34f],
  [0x61c, 0x61c],
  [0x180e, 0x180e],
  [0x200b, 0x200f],
  [0x202a, 0x202e],
  [0x2060, 0x206f],
  [0xfe00, 0xfe0f],
  [0xfeff, 0xfeff],
]);
/** Spaces and dashes of typesetters. */
const spaces = `\u1680\u202f\u205f\u3000${unitsIn([[0x2000, 0x200a]])}`;
const dashes = '\u2212\ufe58\ufe63';
/** What is between secrets, and of what they are, in the width of Chinese signs. */
const wide = unitsIn([
  [0xff0b, 0xff0b],
  [0xff0d, 0xff19],
  [0xff20, 0xff3a],
  [0xff3f, 0xff3f],
  [0xff41, 0xff5a],
]);
/** The first units of what is undone beyond ASCII: of terminals, and of tags that nobody sees, too. */
export const beyondAscii = `${unseenUnits}${spaces}${dashes}${wide}\u009b\udb40`;

/**
 * What is left of colors, and of `grep`'s deletions of a line's end, where a log has lost the sign that begins
 * them.
 */
const lostControl = '\\[(?:[0-9;]{1,16}m|[0-2]?K)';

/** None of them can backtrack over more than what it has matched, so the time is linear in the text. */
const forms: readonly Form[] = [
  {
    // JSON, JavaScript, Python, Go, C. JSON inside of JSON has twice the backslashes.
    form: [
      `\\\\+(?:u${hex}{4}|u\\{${hex}{1,6}\\}|U${hex}{8}|x[0-7]${hex}|x${high}(?:\\\\{1,8}x${high})*`,
      `[01][0-7]{2}|[23][0-7]{2}(?:\\\\{1,8}[23][0-7]{2})*|[nrtbf"'/]|e(?=\\[))?`,
    ].join('|'),
    undo: (found) => fromBackslashed(found.replace(/^\\+/, '')),
  },
  {
    // URLs, escaped once or more.
    form: `%(?:25)*${plain}`,
    undo: (found, { every }) => (every ? fromPercents(found) : undefined),
  },
  {
    // JavaScript's `escape` writes `%u201c`.
    form: `(?:%(?:25)*${high})+|%(?:25)*${sign}|%(?:25)*u${hex}{4}`,
    undo: (found) => {
      const code = /u(.{4})$/.exec(found)?.[1];
      return code === undefined ? fromPercents(found) : fromCode(Number.parseInt(code, 16));
    },
  },
  {
    // E-mail, in capitals, whose long lines are broken.
    form: '(?:=[89A-F][0-9A-F])+|=(?:[012][0-9A-F]|3[A-F]|40|[57][B-F]|60)|=\\r?\\n',
    undo: (found, { printable }) =>
      printable ? fromBytes(found.replaceAll(/=\s*/g, '%').replace(/%$/, '')) : undefined,
  },
  {
    // HTML and XML.
    form: `&(?:amp;)*(?:(?:#[0-9]{1,7}|#[xX]${hex}{1,6}|[A-Za-z]{2,16});|(?:${bareNames}))`,
    undo: (found, manner) => fromEntity(found.replace(/^&(?:amp;)*(?=.)/, '').replace(/;$/, ''), manner),
  },
  {
    // Terminals: colours, character sets, links. Some logs have lost the sign that begins them.
    form: `(?:(?:\\u001b\\[|\\u009b)[0-?]{0,32}[ -/]{0,4}[@-~]|\\u001b[()][A-Z0-9]|\\u001b\\]8;[^;\\u0007]{0,64};|${lostControl}|\\u001b)+`,
    undo: (_, { unseen }) => unseen,
  },
  { form: `(?:[${unseenUnits}]|\\udb40[\\udc00-\\udfff])+`, undo: (_, { unseen }) => unseen },
  { form: `[${spaces}]`, undo: () => ' ' },
  { form: `[${dashes}]`, undo: () => '-' },
  { form: `[${wide}]`, undo: (unit) => String.fromCharCode(unit.charCodeAt(0) - 0xfee0) },
  { form: '(?<=[0-9A-Za-z])\\+(?=[0-9A-Za-z])', undo: (_, { plus }) => (plus ? ' ' : undefined) },
];

/** The signs that escapes begin with. */
const beginnings = `[\\\\%=&\\[+\\u001b${beyondAscii}]`;
/** With what it begins ahead, an engine passes all else over at once. */
const escapes = new RegExp(`(?=${beginnings})(?:${forms.map(({ form }) => `(${form})`).join('|')})`, 'g');

/** What the escapes of e-mail begin with, after the sign: those of texts, and of what is beside secrets. */
const printableHead = '(?:3[A-F]|2[0-9A-F]|C2=[89AB]|E2=8)';

/** What may be an escape, at the place of the sign that begins it. */
const beginsEscape = new RegExp(
  [
    `\\\\(?:[xuU]${hex}{2}|u\\{|[0-3][0-7]{2}|/|e\\[)|%${hex}{2}|%u${hex}{4}|=(?:${printableHead}|\\r?\\n)|&(?:#|[A-Za-z]{2,16};|${bareNames})`,
    `[\\u001b${beyondAscii}]|${lostControl}|\\+[0-9A-Za-z]`,
  ].join('|'),
  'y',
);

/** Whether a `+` is where the query of a URL can have one: `q=4111+1111`. */
const isInQuery = (text: string, at: number): boolean =>
  /[=%][^\s&=]*[0-9A-Za-z]$/.test(text.slice(Math.max(0, at - 64), at));

/**
 * Whether there is an escape at a place that a finder does not know. Finders know the usual ones of
 * JSON, `\n` and `\"`, since most texts with escapes have no others.
 */
export const isEscapeAt = (text: string, at: number): boolean => {
  beginsEscape.lastIndex = at;
  return beginsEscape.test(text) && (text.charAt(at) !== '+' || isInQuery(text, at));
};

const hasPlus = (text: string): boolean => {
  for (const { index } of text.matchAll(/\+/g)) if (isEscapeAt(text, index)) return true;
  return false;
};

const isPrintable = new RegExp(`=${printableHead}|[^=]=\\r?\\n\\S`);
const hasEveryPercent = new RegExp(`%(?:25)*${plain}`);

/** An escape that was undone: where it is in a reading, and where it was in the text that was read. */
interface Edit extends Range {
  readonly rawFrom: number;
  readonly rawTo: number;
  /** Whether it may be none: `\\203.0.113.77` has a byte in octal, or is an address; `a=202-555-0143`. */
  readonly isDoubtful: boolean;
}

/** A text with its escapes undone once. */
interface Layer {
  readonly text: string;
  readonly edits: readonly Edit[];
}

/** What digits may not belong to. */
const doubtfulForm = /^(?:\\+[0-3]|=|%\d\d$)/;

/** Undoes what is escaped once; undefined if nothing is. */
const unescapeOnce = (text: string, wanted: Manner): Layer | undefined => {
  const manner = { ...wanted, printable: isPrintable.test(text) };
  const edits: Edit[] = [];
  const pieces: string[] = [];
  let done = 0;
  let length = 0;
  for (const match of text.matchAll(escapes)) {
    const [found] = match;
    const form = forms[match.findIndex((group, i) => i > 0 && group !== undefined) - 1];
    const unescaped = form?.undo(found, manner);
    if (unescaped === undefined || unescaped === found) continue;
    const rawTo = match.index + found.length;
    const from = length + match.index - done;
    edits.push({
      from,
      to: from + unescaped.length,
      rawFrom: match.index,
      rawTo,
      isDoubtful: doubtfulForm.test(found),
    });
    pieces.push(text.slice(done, match.index), unescaped);
    done = rawTo;
    length = from + unescaped.length;
  }
  if (edits.length === 0) return undefined;
  pieces.push(text.slice(done));
  return { text: pieces.join(''), edits };
};

/** The last item for which something holds that holds for all before it. */
const findLastHolding = <T>(items: readonly T[], holds: (item: T) => boolean): T | undefined => {
  let low = 0;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const item = items[middle];
    if (item !== undefined && holds(item)) low = middle + 1;
    else high = middle;
  }
  return items[low - 1];
};

/** Where a range of a reading was in the text that was read. An escape is in it as a whole. */
const rawRange = ({ edits }: Layer, { from, to }: Range): Range => {
  const first = findLastHolding(edits, (edit) => edit.from <= from);
  const last = findLastHolding(edits, (edit) => edit.from < to);
  return {
    from: !first ? from : from < first.to ? first.rawFrom : first.rawTo + from - first.to,
    to: !last ? to : to <= last.to ? last.rawTo : last.rawTo + to - last.to,
  };
};

/** Where a range of the text within some layers was in the outermost text. */
const outermost = (layers: readonly Layer[], range: Range): Range =>
  layers.reduceRight((inner, layer) => rawRange(layer, inner), range);

/** The escapes of each layer, by where they are in the outermost text. */
const locateEscapes = (layers: readonly Layer[]): (readonly Edit[])[] =>
  layers.map(({ edits }, depth) => {
    if (depth === 0) return edits;
    const below = layers.slice(0, depth);
    return edits.map((edit) => {
      const { from, to } = outermost(below, { from: edit.rawFrom, to: edit.rawTo });
      return { ...edit, rawFrom: from, rawTo: to };
    });
  });

/** The escape within which a range begins, if it does. */
const startedIn = (edits: readonly Edit[], { from }: Range): Edit | undefined => {
  const edit = findLastHolding(edits, ({ rawFrom }) => rawFrom < from);
  return edit && from < edit.rawTo ? edit : undefined;
};

/** A range that ends before an escape rather than within it. */
const endedBefore = (edits: readonly Edit[], { from, to }: Range): Range => {
  const edit = findLastHolding(edits, ({ rawFrom }) => rawFrom < to);
  return { from, to: edit && edit.rawFrom > from && to < edit.rawTo ? edit.rawFrom : to };
};

/** Ranges in order. Of those that overlap, what was found first stays, and grows to cover the others. */
export const withoutOverlaps = <T extends Range>(ranges: readonly T[]): readonly T[] => {
  if (ranges.length < 2) return ranges;
  const kept: T[] = [];
  for (const range of ranges.toSorted((a, b) => a.from - b.from)) {
    const last = kept.at(-1);
    if (!last || range.from >= last.to) kept.push(range);
    else if (range.to > last.to) kept[kept.length - 1] = { ...last, to: range.to };
  }
  return kept;
};

/** Escapes within escapes are undone so many times. */
const maxLayers = 4;

const unescapeLayers = (text: string, manner: Manner): readonly Layer[] => {
  const layers: Layer[] = [];
  for (
    let layer = unescapeOnce(text, manner);
    layer && layers.length < maxLayers;
    layer = unescapeOnce(layer.text, manner)
  )
    layers.push(layer);
  return layers;
};

const plainManner = { plus: false, every: false };

/** Every way in which a text can be read, each as its layers; none if it has no escapes. */
const listReadings = (text: string): readonly (readonly Layer[])[] => {
  const parted: Manner = { ...plainManner, unseen: parting };
  const joined: Manner = { ...parted, unseen: '' };
  const first = unescapeLayers(text, parted);
  const readings = [first];
  const texts = [text, ...first.map((layer) => layer.text)];
  if (texts.at(-1)?.includes(parting)) readings.push(unescapeLayers(text, joined));
  if (texts.some((known) => hasPlus(known))) readings.push(unescapeLayers(text, { ...joined, plus: true }));
  if (texts.some((known) => hasEveryPercent.test(known)))
    readings.push(unescapeLayers(text, { ...parted, every: true }));
  return readings.filter((layers) => layers.length > 0);
};

/** A text as people read it: without its escapes. */
export const unescaped = (text: string): string => {
  const manner: Manner = { ...plainManner, unseen: '' };
  return unescapeLayers(text, manner).at(-1)?.text ?? text;
};

/**
 * Finds something in a text as it is, and in each of its readings.
 *
 * @param find gives ranges of a text
 * @returns ranges of the text, in order and without overlaps
 */
export const findInReadings = <T extends Range>(
  text: string,
  find: (text: string) => readonly T[],
): readonly T[] => {
  const readings = listReadings(text);
  if (readings.length === 0) return withoutOverlaps(find(text));
  const looked = new Set<string>();
  const found: T[] = [];
  const doubtful: T[] = [];
  // The innermost text says best what something is, so it comes first.
  for (const layers of readings) {
    const byDepth = locateEscapes(layers);
    for (let depth = layers.length; depth >= 0; depth--) {
      const read = layers[depth - 1]?.text ?? text;
      if (looked.has(read)) continue;
      looked.add(read);
      const below = layers.slice(0, depth);
      const notUndone = byDepth.slice(depth);
      for (const match of find(read)) {
        const range = outermost(below, match);
        // The end of an escape is no part of a secret: `%092026-11-23 04` has no number with a zero.
        const within = notUndone.flatMap((edits) => startedIn(edits, range) ?? []);
        if (within.some(({ isDoubtful }) => !isDoubtful)) continue;
        const { from, to } = notUndone.reduce((left, edits) => endedBefore(edits, left), range);
        (within.length > 0 ? doubtful : found).push({ ...match, from, to });
      }
    }
  }
  const sure = withoutOverlaps(found);
  const others = doubtful.filter(({ from, to }) => {
    const before = findLastHolding(sure, (known) => known.from < to);
    return !before || before.to <= from;
  });
  return others.length > 0 ? withoutOverlaps([...sure, ...others]) : sure;
};
