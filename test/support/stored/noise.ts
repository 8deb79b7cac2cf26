import { createHash } from 'node:crypto';

/*
 * Large payloads have to be noise, or they would compress to nothing. Files hold a short marker in
 * the place of each, since noise can be made again.
 */

/** How many characters each noise has. */
const lengths = {
  'table-a': 40_000,
  'table-b': 40_000,
  'table-c': 40_000,
  bucket: 180_000,
  'bucket-kept': 176_000,
  value: 48_000,
  'value-doomed': 46_000,
  'value-noted': 47_000,
  feedback: 420_000,
  'feedback-replaced': 421_000,
  'feedback-purged': 422_000,
} as const;

type Name = keyof typeof lengths;

const texts = new Map<string, string>();

/**
 * Makes text of so many letters, digits, `-` and `_`, each character 6 bits, the same for the same
 * seed.
 */
export const randomText = (seed: string, length: number): string => {
  const outputLength = Math.ceil((length * 3) / 4);
  return createHash('shake256', { outputLength }).update(seed).digest('base64url').slice(0, length);
};

/** Text that does not compress below three quarters of its length. */
export const noise = (name: Name): string => {
  const text = texts.get(name) ?? randomText(name, lengths[name]);
  texts.set(name, text);
  return text;
};

/** 255 characters of four bytes each. */
export const unicorns = '🦄'.repeat(255);

const names = Object.keys(lengths) as Name[];
const markers = [
  ...names.map((name) => [`⟦noise ${name}⟧`, () => noise(name)] as const),
  ['⟦unicorns⟧', () => unicorns] as const,
];

const blank = /\0{16,}/g;
const blankMarker = /⟦blank (\d+)⟧/g;

/** Puts markers in the place of noise, unicorns and runs of zero bytes. */
export const withMarkers = (text: string): string =>
  markers
    .reduce((rest, [marker, original]) => rest.replaceAll(original(), marker), text)
    .replace(blank, (run) => `⟦blank ${run.length}⟧`);

/** Undoes {@link withMarkers}. */
export const withoutMarkers = (text: string): string =>
  markers
    .reduce((rest, [marker, original]) => rest.replaceAll(marker, original()), text)
    .replace(blankMarker, (_, length) => '\0'.repeat(Number(length)));
