import type { TracesSearch } from '../../navigation/search.ts';
import { tagsColumn } from '../scores.ts';

/*
 * How the columns of a list stand: in which order, how wide, and which are hidden. The URL has it as
 * one text for each column: `cost`, `-thread` for a hidden one, `name~240` for one of 240 pixels.
 */

/** A column's place in a layout. */
export interface Placed {
  readonly id: string;
  readonly hidden: boolean;
  /** In pixels; undefined for its own. */
  readonly width: number | undefined;
}

/** The least and the most that a column may be made, in pixels. */
const minWidth = 48;
const maxWidth = 1600;

const boundedWidth = (width: number): number => Math.round(Math.min(maxWidth, Math.max(minWidth, width)));

const parse = (text: string): Placed => {
  const [, dash = '', id = text, width] = /^(-?)(.*?)(?:~(\d{1,4}))?$/.exec(text) ?? [];
  return { id, hidden: dash === '-', width: width === undefined ? undefined : boundedWidth(Number(width)) };
};

const formatPlaced = ({ id, hidden, width }: Placed): string =>
  `${hidden ? '-' : ''}${id}${width === undefined ? '' : `~${width}`}`;

/**
 * Every column in its place: those that a layout names in its order, then the others.
 *
 * @param ids all columns, in the order that they have by themselves
 */
export const toPlaces = (layout: readonly string[] | undefined, ids: readonly string[]): Placed[] => {
  const known = new Map((layout ?? []).map(parse).map((placed) => [placed.id, placed]));
  const named = [...known.values()].filter(({ id }) => ids.includes(id));
  return [...named, ...ids.filter((id) => !known.has(id)).map((id) => parse(id))];
};

/** The ids of the columns that a list hides. */
export const hiddenIn = ({ layout = [] }: Pick<TracesSearch, 'layout'>): ReadonlySet<string> =>
  new Set(layout.map(parse).flatMap(({ id, hidden }) => (hidden ? [id] : [])));

/** A layout with one column changed. */
export const changedPlaces = (
  places: readonly Placed[],
  id: string,
  change: Partial<Omit<Placed, 'id'>>,
): string[] =>
  places.map((placed) =>
    formatPlaced(
      placed.id === id
        ? {
            ...placed,
            ...change,
            ...(change.width !== undefined && { width: boundedWidth(change.width) }),
          }
        : placed,
    ),
  );

/** A layout with one column moved before or behind its neighbour. */
export const movedPlaces = (places: readonly Placed[], id: string, by: -1 | 1): string[] => {
  const texts = places.map(formatPlaced);
  const at = places.findIndex((placed) => placed.id === id);
  const [moved] = texts.splice(at, 1);
  if (moved !== undefined) texts.splice(Math.max(0, at + by), 0, moved);
  return texts;
};

/**
 * A list's state without what is nothing to read rows anew for. It names the list in the cache. A list
 * that hides previews does not ask for them, so that alone of the columns' places stays.
 */
export const listState = (search: TracesSearch): TracesSearch => {
  const { live: _live, peek: _peek, call: _call, layout, columns, ...others } = search;
  // Tags are looked up for the rows in sight.
  const paths = columns?.filter((path) => path !== tagsColumn) ?? [];
  const asked = paths.length > 0 ? { ...others, columns: paths } : others;
  return hiddenIn({ ...(layout && { layout }) }).has('preview') ? { ...asked, layout: ['-preview'] } : asked;
};
