import type { Kind } from '../../api/kind.ts';
import { partText, splitPart } from '../../calls/trace/parts.ts';
import { countedText, durationText } from '../../data/format.ts';
import { resolveColor } from '../../ui/canvas.ts';
import { type Bar, type CriticalStretch, type Lane, type Stretch, toDrawn, toTicks } from './timeline.ts';

/** How high parts of the timeline are, in pixels. */
export const heights = { axis: 22, head: 22, row: 20, bar: 17, gap: 8 } as const;

const font = '11px Inter, sans-serif';
const headFont = '600 11px Inter, sans-serif';

/** A lane with its place, in pixels from the top of all lanes. */
export interface PlacedLane {
  readonly lane: Lane;
  readonly top: number;
  readonly rows: readonly PlacedRow[];
}

/** A row, with what of the critical path is in it. */
interface PlacedRow {
  readonly bars: readonly Bar[];
  readonly critical: readonly CriticalStretch[];
  readonly top: number;
}

/** Lanes below each other, and how high they are together. */
export const placeLanes = (lanes: readonly Lane[], path: readonly CriticalStretch[]) => {
  const byCall = Map.groupBy(path, ({ id }) => id);
  let top: number = heights.axis;
  const placed = lanes.map((lane): PlacedLane => {
    const start = top;
    top += heights.head;
    const rows = lane.rows.map((bars) => {
      const row = { bars, critical: bars.flatMap(({ node }) => byCall.get(node.call.id) ?? []), top };
      top += heights.row;
      return row;
    });
    top += heights.gap;
    return { lane, top: start, rows };
  });
  return { lanes: placed, height: top };
};

const kindTokens: Readonly<Record<Kind, string>> = {
  agent: 'series-4',
  workflow: 'series-4',
  plan: 'series-4',
  model: 'series-1',
  tool: 'series-3',
  retriever: 'series-2',
  memory: 'series-2',
  embedding: 'series-5',
  guardrail: 'series-6',
  evaluator: 'series-6',
  other: 'muted',
};

const tokens = [
  'background',
  'line',
  'text',
  'muted',
  'accent',
  'error',
  'warning',
  ...Object.values(kindTokens),
];

/** The colors of the theme, by their tokens. */
export type Palette = Readonly<Record<string, string>>;

export const readPalette = (element: HTMLElement): Palette =>
  Object.fromEntries([...new Set(tokens)].map((token) => [token, resolveColor(element, token)]));

const colorOf = (palette: Palette, token: string): string => palette[token] ?? 'gray';

/** Diagonal lines, for what waited. */
const makeHatch = (context: CanvasRenderingContext2D, color: string): CanvasPattern | string => {
  const tile = document.createElement('canvas');
  tile.width = 6;
  tile.height = 6;
  const on = tile.getContext('2d');
  if (!on) return color;
  on.strokeStyle = color;
  on.lineWidth = 1;
  for (const x of [-6, 0, 6]) {
    on.beginPath();
    on.moveTo(x - 1, 7);
    on.lineTo(x + 7, -1);
    on.stroke();
  }
  return context.createPattern(tile, 'repeat') ?? color;
};

/** How wide names are, in pixels: measuring is dear. */
const widths = new Map<string, number>();

const measure = (context: CanvasRenderingContext2D, text: string): number => {
  const known = widths.get(text);
  if (known !== undefined) return known;
  if (widths.size > 5000) widths.clear();
  const { width } = context.measureText(text);
  widths.set(text, width);
  return width;
};

/** A text as far as it fits; empty where next to nothing does. */
const fitText = (context: CanvasRenderingContext2D, text: string, room: number): string => {
  if (room < 14) return '';
  const width = measure(context, text);
  if (width <= room) return text;
  const kept = [...text].slice(0, Math.floor((text.length * room) / width) - 1).join('');
  return kept === '' ? '' : `${kept}…`;
};

/** What is drawn, and how. */
export interface Scene {
  readonly lanes: readonly PlacedLane[];
  readonly window: Stretch;
  /** When the trace began, in ms since 1970. */
  readonly origin: number;
  readonly width: number;
  readonly height: number;
  /** How far the lanes are scrolled, in pixels. */
  readonly scrolled: number;
  readonly palette: Palette;
  readonly selected: string | undefined;
  readonly pointed: string | undefined;
  readonly found: ReadonlySet<string>;
}

const drawRow = (
  context: CanvasRenderingContext2D,
  scene: Scene,
  row: PlacedRow,
  hatch: () => CanvasPattern | string,
) => {
  const { window, width, palette, scrolled, selected, pointed, found } = scene;
  const y = row.top - scrolled;
  const scale = width / (window.end - window.start);
  const toX = (moment: number) => (moment - window.start) * scale;
  context.textBaseline = 'middle';
  context.font = font;
  for (const { x, width: length, bar, count, isError } of toDrawn(row.bars, window, width)) {
    const { id } = bar.node.call;
    const from = Math.max(x, -2);
    const across = Math.min(x + length, width + 2) - from;
    const kind = colorOf(palette, isError ? 'error' : kindTokens[bar.node.kind]);
    context.fillStyle = kind;
    context.globalAlpha = across < 4 ? 0.8 : 0.26;
    context.fillRect(from, y, across, heights.bar);
    context.globalAlpha = 1;
    if (across >= 4) context.fillRect(x, y, 3, heights.bar);
    if (bar.wait && count === 1) {
      const [start, end] = [Math.max(toX(bar.wait.start), 0), Math.min(toX(bar.wait.end), width)] as const;
      context.fillStyle = hatch();
      if (end > start) context.fillRect(start, y, end - start, heights.bar);
    }
    const name = fitText(context, `${isError ? '✕ ' : ''}${bar.node.name}`, across - 12);
    if (name !== '' && count === 1) {
      if (bar.wait) {
        // Nobody reads a name upon hatches.
        context.fillStyle = colorOf(palette, 'background');
        context.globalAlpha = 0.9;
        context.fillRect(Math.max(from, 0) + 5, y + 2, measure(context, name) + 4, heights.bar - 4);
        context.globalAlpha = 1;
      }
      context.fillStyle = colorOf(palette, 'text');
      context.fillText(name, Math.max(from, 0) + 7, y + heights.bar / 2 + 0.5);
    }
    const outline =
      id === selected ? 'accent' : found.has(id) ? 'warning' : id === pointed ? 'muted' : undefined;
    if (outline === undefined) continue;
    context.strokeStyle = colorOf(palette, outline);
    context.lineWidth = outline === 'muted' ? 1 : 2;
    context.strokeRect(from, y - 0.5, Math.max(across, 3), heights.bar + 1);
  }
  context.fillStyle = colorOf(palette, 'accent');
  for (const { x, width: length } of toDrawn(row.critical, window, width))
    context.fillRect(Math.max(x, 0), y + heights.bar, Math.min(x + length, width) - Math.max(x, 0), 2);
};

const drawAxis = (context: CanvasRenderingContext2D, { window, origin, width, palette }: Scene) => {
  context.fillStyle = colorOf(palette, 'background');
  context.fillRect(0, 0, width, heights.axis);
  context.fillStyle = colorOf(palette, 'muted');
  context.font = font;
  context.textBaseline = 'middle';
  const scale = width / (window.end - window.start);
  for (const moment of toTicks(window, origin, width / 90)) {
    const x = (moment + origin - window.start) * scale;
    const text = durationText(moment);
    if (x + measure(context, text) + 4 < width) context.fillText(text, x + 4, heights.axis / 2);
  }
  context.fillStyle = colorOf(palette, 'line');
  context.fillRect(0, heights.axis - 1, width, 1);
};

/** Draws what is in sight of a timeline. */
export const drawTimeline = (context: CanvasRenderingContext2D, scene: Scene): void => {
  const { lanes, window, origin, width, height, scrolled, palette } = scene;
  let pattern: CanvasPattern | string | undefined;
  const hatch = () => {
    pattern ??= makeHatch(context, colorOf(palette, 'text'));
    return pattern;
  };
  context.fillStyle = colorOf(palette, 'line');
  const scale = width / (window.end - window.start);
  for (const moment of toTicks(window, origin, width / 90))
    context.fillRect(Math.round((moment + origin - window.start) * scale), 0, 1, height);
  for (const { lane, top, rows } of lanes) {
    const last = rows.at(-1)?.top ?? top;
    if (top - scrolled > height || last + heights.row - scrolled < 0) continue;
    for (const row of rows)
      if (row.top - scrolled < height && row.top + heights.row - scrolled > 0)
        drawRow(context, scene, row, hatch);
    const [, name] = splitPart(lane.agent);
    const text = `${name === '' ? partText(lane.agent) : name} · ${countedText(lane.calls, 'call')}`;
    context.font = headFont;
    context.fillStyle = colorOf(palette, 'muted');
    context.fillText(text, 6, top - scrolled + heights.head / 2 + 1);
  }
  drawAxis(context, scene);
};

/** Draws all of a trace in a few pixels: a line for each lane. */
export const drawOverview = (
  context: CanvasRenderingContext2D,
  { lanes, window, width, height, palette }: Pick<Scene, 'lanes' | 'window' | 'width' | 'height' | 'palette'>,
): void => {
  const line = height / Math.max(1, lanes.length);
  for (const [at, { rows }] of lanes.entries())
    for (const { bars } of rows)
      for (const { x, width: length, bar, isError } of toDrawn(bars, window, width)) {
        context.fillStyle = colorOf(palette, isError ? 'error' : kindTokens[bar.node.kind]);
        context.globalAlpha = isError ? 1 : 0.45;
        context.fillRect(x, at * line, Math.max(1, length), Math.max(1, line - 1));
      }
  context.globalAlpha = 1;
};
