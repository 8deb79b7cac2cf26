/* The package has no types of its own. */
declare module 'subset-font' {
  interface Options {
    readonly targetFormat: 'woff2';
    /** The parts of axes of variation that are kept. */
    readonly variationAxes: Readonly<Record<string, { readonly min: number; readonly max: number }>>;
  }

  /** A font that has the characters of a text, and no others. */
  export default function subsetFont(font: Buffer, text: string, options: Options): Promise<Buffer>;
}
