import { readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';

/** A place in a bundle as V8 writes it into a stack trace: file, line and column, from 1. */
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
 * Replaces the places in bundles by those in the sources, if a map lies beside the bundle. Node's
 * `--enable-source-maps` does this too, but reads every map when a container starts. That takes
 * longer than all uses of the maps together.
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
