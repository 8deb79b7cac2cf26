import { readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';

/** A place in a bundle, as V8 writes it into a stack trace: file, line and column, from 1. */
const place = /((?:\/[^\s():]+)+\.cjs):(\d+):(\d+)/g;

const readMap = (file: string): SourceMap | undefined => {
  try {
    return new SourceMap(JSON.parse(readFileSync(`${file}.map`, 'utf8')));
  } catch {
    return undefined;
  }
};

const maps = new Map<string, SourceMap | undefined>();

const mapOf = (file: string): SourceMap | undefined => {
  if (!maps.has(file)) maps.set(file, readMap(file));
  return maps.get(file);
};

/**
 * A stack trace with the places in bundles replaced by those in the sources, where a map lies
 * beside the bundle. Node's `--enable-source-maps` does this too, but reads every map at the start
 * of a container, which takes longer than all that it would ever be needed for.
 *
 * @param stack an error's `stack`
 */
export const inSources = (stack: string): string =>
  stack.replace(place, (bundled: string, file: string, line: string, column: string) => {
    const origin = mapOf(file)?.findOrigin(Number(line), Number(column));
    return origin && 'fileName' in origin
      ? `${origin.fileName.replace(/^(?:\.\.\/)+/, '')}:${origin.lineNumber}:${origin.columnNumber}`
      : bundled;
  });
