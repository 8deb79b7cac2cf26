import { Expand, ZoomIn, ZoomOut } from 'lucide-react';
import { type PointerEvent, useEffect, useMemo, useRef, useState } from 'react';
import { getStatus } from '../../api/calls.ts';
import { statusTexts } from '../../calls/badges.tsx';
import { partText } from '../../calls/trace/parts.ts';
import type { Span, TraceState } from '../../calls/trace/trace-state.ts';
import type { TreeLine } from '../../calls/trace/tree.ts';
import { costText, durationText, tokensText, tookText } from '../../data/format.ts';
import { onTheme, toContext } from '../../ui/canvas.ts';
import { IconButton } from '../../ui/controls.tsx';
import { useKeys } from '../../ui/keys.tsx';
import {
  type Bar,
  barAt,
  fitWindow,
  panned,
  readWindow,
  revealed,
  type Stretch,
  toCriticalPath,
  toLanes,
  windowText,
  zoomed,
} from './timeline.ts';
import {
  drawOverview,
  drawTimeline,
  heights,
  type Palette,
  placeLanes,
  readPalette,
} from './timeline-draw.ts';

/** A bar under the pointer, and where that is, in pixels from the corner of the lanes. */
interface Pointed {
  readonly bar: Bar;
  readonly x: number;
  readonly y: number;
  /** Whether there is more room on the other side of it. */
  readonly isRight: boolean;
  readonly isLow: boolean;
}

/** What a bar stands for. */
const Tip = ({ pointed: { bar, x, y, isRight, isLow }, agent, isCritical }: TipProps) => {
  const { node } = bar;
  const { call, usage, kind } = node;
  return (
    <div
      className="chart-tip timeline-tip"
      aria-hidden="true"
      style={{
        ...(isRight ? { insetInlineEnd: `calc(100% - ${x - 12}px)` } : { insetInlineStart: x + 12 }),
        ...(isLow ? { insetBlockEnd: `calc(100% - ${y - 12}px)` } : { insetBlockStart: y + 12 }),
      }}
    >
      <strong dir="auto">{node.name}</strong>
      <span className="muted">
        {kind === 'other' ? '' : `${kind} · `}
        {agent} · {statusTexts[getStatus(call)]}
      </span>
      <span>
        {tookText(node.end - node.start, node.waitedMs)}; {durationText(node.ownMs)} of its own
      </span>
      {usage && usage.total > 0 ? (
        <span>
          {tokensText(usage.total)} tokens{usage.cost === undefined ? '' : `, ${costText(usage.cost)}`}
        </span>
      ) : null}
      {isCritical ? <span className="muted">on the critical path</span> : null}
    </div>
  );
};

interface TipProps {
  readonly pointed: Pointed;
  readonly agent: string;
  readonly isCritical: boolean;
}

/** The lanes of what is shown, and what is needed to draw and to describe them. */
const useLanes = ({ members, matching, forest }: TraceState) =>
  useMemo(() => {
    const path = toCriticalPath(forest);
    const shown = matching ? members.filter(({ node }) => matching.has(node.call.id)) : members;
    const { lanes, height } = placeLanes(toLanes(shown), path);
    const agents = new Map(members.map(({ node, agent }) => [node.call.id, partText(agent)]));
    const waits = lanes.some(({ lane }) => lane.rows.some((row) => row.some(({ wait }) => wait)));
    const places = new Map(
      lanes.flatMap(({ rows }) =>
        rows.flatMap(({ bars, top }) => bars.map((bar) => [bar.node.call.id, { bar, top }] as const)),
      ),
    );
    return { lanes, height, agents, waits, places, critical: new Set(path.map(({ id }) => id)) };
  }, [members, matching, forest]);

type Lanes = ReturnType<typeof useLanes>;

/** How far a pointer may move until it drags and no longer clicks, in pixels. */
const clickPx = 4;

/** How far from a bar a pointer may be to mean it, in pixels. */
const nearPx = 3;

/** How much closer a step looks. */
const closer = 0.75;

/** For how long a window has to stay until the URL has it, in ms. */
const restMs = 250;

const overviewHeight = 36;

/** What looks at the lanes: the window in sight, what is drawn of it, and what gestures change. */
const useLook = (placed: Lanes, { state, window: inUrl, onSelect, onWindow }: TimelineViewProps) => {
  const scroller = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const overview = useRef<HTMLCanvasElement>(null);
  const frame = useRef<HTMLDivElement>(null);
  const palette = useRef<Palette>(undefined);
  /** Undefined for all of it, as long as calls come in. */
  const looked = useRef<Stretch>(readWindow(inUrl, state.span));
  /** The window that the URL has, and what brings the next one there. */
  const told = useRef(inUrl);
  const telling = useRef(0);
  const drawing = useRef(0);
  const [pointed, setPointed] = useState<Pointed>();
  const latest = useRef({ state, placed, pointed, onSelect, onWindow });
  latest.current = { state, placed, pointed, onSelect, onWindow };
  const whole = (): Span => latest.current.state.span;
  const window = (): Stretch => fitWindow(looked.current ?? whole(), whole());

  const draw = () => {
    drawing.current = 0;
    const { current: host } = scroller;
    const { current: surface } = canvas;
    const { state, placed, pointed } = latest.current;
    if (!host || !surface) return;
    palette.current ??= readPalette(host);
    const width = host.clientWidth;
    const height = host.clientHeight;
    surface.style.height = `${height}px`;
    const context = toContext(surface, width, height);
    if (!context) return;
    const { start, end } = window();
    drawTimeline(context, {
      lanes: placed.lanes,
      window: { start, end },
      origin: whole().start,
      width,
      height,
      scrolled: host.scrollTop,
      palette: palette.current,
      selected: state.selected,
      pointed: pointed?.bar.node.call.id,
      found: state.found,
    });
    const all = fitWindow(whole(), whole());
    const length = all.end - all.start;
    if (!frame.current) return;
    frame.current.style.insetInlineStart = `${(100 * (start - all.start)) / length}%`;
    frame.current.style.inlineSize = `${(100 * (end - start)) / length}%`;
  };
  const redraw = () => {
    drawing.current ||= requestAnimationFrame(draw);
  };
  const drawAll = () => {
    redraw();
    const { current: surface } = overview;
    const { current: host } = scroller;
    const context = surface && toContext(surface, surface.clientWidth, overviewHeight);
    if (!context || !host) return;
    palette.current ??= readPalette(host);
    drawOverview(context, {
      lanes: latest.current.placed.lanes,
      window: fitWindow(whole(), whole()),
      width: surface.clientWidth,
      height: overviewHeight,
      palette: palette.current,
    });
  };
  const tell = () => {
    const text = looked.current && windowText(looked.current, whole());
    if (text === told.current) return;
    told.current = text;
    latest.current.onWindow(text);
  };
  const look = (next: Stretch | undefined) => {
    looked.current = next;
    redraw();
    clearTimeout(telling.current);
    telling.current = setTimeout(tell, restMs) as unknown as number;
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: only a link brings another window
  useEffect(() => {
    if (inUrl === told.current) return;
    told.current = inUrl;
    looked.current = readWindow(inUrl, whole());
    redraw();
  }, [inUrl]);
  useEffect(() => () => clearTimeout(telling.current), []);
  const zoom = (factor: number, share = 0.5) => {
    const { start, end } = window();
    look(zoomed({ start, end }, factor, start + share * (end - start), whole()));
  };
  const pan = (share: number) => look(panned(window(), share, whole()));
  const findBar = (x: number, y: number): Bar | undefined => {
    const { current: host } = scroller;
    if (!host || y < heights.axis) return undefined;
    const { start, end } = window();
    const perPx = (end - start) / host.clientWidth;
    const down = y + host.scrollTop;
    for (const { rows } of latest.current.placed.lanes)
      for (const { bars, top } of rows)
        if (down >= top && down < top + heights.row) return barAt(bars, start + x * perPx, nearPx * perPx);
    return undefined;
  };
  const pointAt = (x: number, y: number) => {
    const { current: host } = scroller;
    const bar = findBar(x, y);
    setPointed(
      bar && host
        ? { bar, x, y, isRight: x > host.clientWidth / 2, isLow: y > host.clientHeight / 2 }
        : undefined,
    );
  };
  return {
    scroller,
    canvas,
    overview,
    frame,
    palette,
    pointed,
    setPointed,
    isLinked: inUrl !== undefined,
    whole,
    window,
    look,
    zoom,
    pan,
    redraw,
    drawAll,
    findBar,
    pointAt,
    choose: (call: string) => latest.current.onSelect(call),
  };
};

type Look = ReturnType<typeof useLook>;

/** A point of a canvas, in pixels from its corner. */
interface Point {
  readonly x: number;
  readonly y: number;
}

const pointOf = ({ clientX, clientY, currentTarget }: PointerEvent<HTMLElement>): Point => {
  const { left, top } = currentTarget.getBoundingClientRect();
  return { x: clientX - left, y: clientY - top };
};

/** What pointers do with the lanes: one drags or clicks, two pinch. */
const useGestures = ({ scroller, findBar, pointAt, setPointed, zoom, pan, choose }: Look) => {
  const down = useRef(new Map<number, Point>());
  const dragged = useRef(false);
  const width = () => scroller.current?.clientWidth ?? 1;
  const up = (event: PointerEvent<HTMLElement>) => {
    const { x, y } = pointOf(event);
    const isClick = down.current.delete(event.pointerId) && !dragged.current && event.type === 'pointerup';
    const bar = isClick ? findBar(x, y) : undefined;
    if (bar) choose(bar.node.call.id);
  };
  return {
    onPointerDown: (event: PointerEvent<HTMLElement>) => {
      if (event.button !== 0) return;
      if (down.current.size === 0) dragged.current = false;
      event.currentTarget.setPointerCapture(event.pointerId);
      down.current.set(event.pointerId, pointOf(event));
    },
    onPointerMove: (event: PointerEvent<HTMLElement>) => {
      const at = pointOf(event);
      const before = down.current.get(event.pointerId);
      if (!before) {
        if (event.pointerType === 'mouse') pointAt(at.x, at.y);
        return;
      }
      const other = [...down.current].find(([id]) => id !== event.pointerId)?.[1];
      if (!dragged.current && !other && Math.hypot(at.x - before.x, at.y - before.y) < clickPx) return;
      dragged.current = true;
      setPointed(undefined);
      down.current.set(event.pointerId, at);
      if (other) {
        const apart = ({ x, y }: Point) => Math.max(8, Math.hypot(x - other.x, y - other.y));
        zoom(apart(before) / apart(at), (at.x + other.x) / 2 / width());
      }
      pan(((before.x - at.x) / width()) * (other ? 0.5 : 1));
      if (!other && scroller.current) scroller.current.scrollTop += before.y - at.y;
    },
    onPointerUp: up,
    onPointerCancel: up,
    onPointerLeave: () => setPointed(undefined),
  };
};

/** How much closer a turn of the wheel looks. Pinching a touchpad is a wheel with small steps. */
const wheelFactor = ({ deltaY, deltaMode }: WheelEvent): number =>
  Math.exp(Math.max(-30, Math.min(30, deltaY * (deltaMode === 0 ? 1 : 12))) * 0.012);

/** Keeps what is drawn as what is there: data, size, theme, and the wheel, which React listens to passively. */
const useDrawing = (look: Look, state: TraceState, placed: Lanes) => {
  const { scroller, canvas, palette, drawAll, redraw, zoom, pan, window, whole } = look;
  const { selected, found, span } = state;
  const { pointed } = look;
  /** What was brought into sight last. The window of a link stays, whatever it has selected. */
  const shown = useRef<string>(undefined);
  // biome-ignore lint/correctness/useExhaustiveDependencies: what draws takes what is there
  useEffect(drawAll, [placed, span]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: what draws takes what is there
  useEffect(redraw, [selected, found, pointed?.bar]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: only what is newly selected is brought into sight
  useEffect(() => {
    const place = selected === undefined ? undefined : placed.places.get(selected);
    const { current: host } = scroller;
    if (!place || !host || selected === shown.current) return;
    const before = window();
    const next = revealed(before, place.bar, whole());
    if (next !== before && !(shown.current === undefined && look.isLinked)) look.look(next);
    shown.current = selected;
    const top = place.top - heights.axis - heights.head;
    const bottom = place.top + heights.row + heights.gap;
    if (host.scrollTop > top) host.scrollTop = Math.max(0, top);
    else if (host.scrollTop + host.clientHeight < bottom) host.scrollTop = bottom - host.clientHeight;
  }, [selected, placed]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: they are the same for good
  useEffect(() => {
    const { current: host } = scroller;
    if (!host) return;
    const onWheel = (event: WheelEvent) => {
      const { left, width } = host.getBoundingClientRect();
      const across = event.shiftKey && event.deltaX === 0 ? event.deltaY : event.deltaX;
      if (event.ctrlKey || event.metaKey) zoom(wheelFactor(event), (event.clientX - left) / width);
      else if (Math.abs(across) > (event.shiftKey ? 0 : Math.abs(event.deltaY))) pan(across / width);
      else return;
      event.preventDefault();
    };
    host.addEventListener('wheel', onWheel, { passive: false });
    const sizes = new ResizeObserver(drawAll);
    sizes.observe(host);
    const unwatch = onTheme(() => {
      palette.current = undefined;
      drawAll();
    });
    return () => {
      host.removeEventListener('wheel', onWheel);
      sizes.disconnect();
      unwatch();
    };
  }, [canvas]);
};

const itemId = (call: string): string => `bar-${call}`;

/** What screen readers read of a call. */
const lineText = ({ node }: TreeLine, { agents, critical }: Lanes): string =>
  [
    node.name,
    ...(node.kind === 'other' ? [] : [node.kind]),
    agents.get(node.call.id) ?? '',
    statusTexts[getStatus(node.call)],
    tookText(node.end - node.start, node.waitedMs),
    ...(critical.has(node.call.id) ? ['on the critical path'] : []),
  ].join(', ');

interface TimelineViewProps {
  readonly state: TraceState;
  /** What of the time is in sight at first, as the URL has it. @default - all of it */
  readonly window: string | undefined;
  readonly onSelect: (call: string) => void;
  /** Takes what is in sight, once it stays. */
  readonly onWindow: (window: string | undefined) => void;
}

/** The calls of a trace as bars over time, on a lane for each agent. */
export const TimelineView = (props: TimelineViewProps) => {
  const { state } = props;
  const { open, selected } = state;
  const placed = useLanes(state);
  const look = useLook(placed, props);
  const { scroller, canvas, overview, frame, pointed, zoom, pan, whole, window } = look;
  useDrawing(look, state, placed);
  const gestures = useGestures(look);
  const focus = () => {
    const bar = selected === undefined ? undefined : placed.places.get(selected)?.bar;
    if (bar) look.look(fitWindow(bar, whole()));
  };
  useKeys({
    w: () => zoom(closer),
    s: () => zoom(1 / closer),
    a: () => pan(-0.2),
    d: () => pan(0.2),
    f: focus,
    '0': () => look.look(undefined),
  });
  /** Brings a moment of the overview into the middle. */
  const goTo = (event: PointerEvent<HTMLElement>) => {
    if (event.type === 'pointermove' && event.buttons === 0) return;
    event.currentTarget.setPointerCapture(event.pointerId);
    const { start, end } = window();
    const all = whole();
    const share = pointOf(event).x / event.currentTarget.clientWidth;
    const from = all.start + share * (all.end - all.start) - (end - start) / 2;
    look.look(fitWindow({ start: from, end: from + end - start }, all));
  };
  const at = open.findIndex(({ node }) => node.call.id === selected);
  const told = open.slice(Math.max(0, at - 1), Math.max(0, at) + 2);
  return (
    <div className="timeline">
      <div className="timeline-head">
        <span className="timeline-sign critical">critical path</span>
        {placed.waits ? <span className="timeline-sign wait">waits for a person</span> : null}
        <span className="timeline-tools">
          <IconButton icon={ZoomIn} name="Closer (w)" onClick={() => zoom(closer)} />
          <IconButton icon={ZoomOut} name="Farther away (s)" onClick={() => zoom(1 / closer)} />
          <IconButton icon={Expand} name="All of it (0)" onClick={() => look.look(undefined)} />
        </span>
      </div>
      <div
        className="timeline-overview"
        aria-hidden="true"
        onPointerDown={goTo}
        onPointerMove={goTo}
        onDoubleClick={() => look.look(undefined)}
      >
        <canvas ref={overview} />
        <div ref={frame} className="timeline-frame" />
      </div>
      <div className="timeline-lanes">
        <div
          ref={scroller}
          className="timeline-scroll"
          role="tree"
          tabIndex={0}
          aria-label="Calls over time"
          aria-activedescendant={at >= 0 && selected !== undefined ? itemId(selected) : undefined}
          onScroll={look.redraw}
        >
          <div role="presentation" style={{ height: placed.height }}>
            <canvas ref={canvas} {...gestures} />
            <div role="presentation" className="hidden">
              {told.map((line, place) => (
                <div
                  key={line.node.call.id}
                  id={itemId(line.node.call.id)}
                  role="treeitem"
                  aria-level={line.depth + 1}
                  aria-selected={line.node.call.id === selected}
                  aria-setsize={open.length}
                  aria-posinset={Math.max(0, at - 1) + place + 1}
                  tabIndex={-1}
                >
                  {lineText(line, placed)}
                </div>
              ))}
            </div>
          </div>
        </div>
        {pointed ? (
          <Tip
            pointed={pointed}
            agent={placed.agents.get(pointed.bar.node.call.id) ?? ''}
            isCritical={placed.critical.has(pointed.bar.node.call.id)}
          />
        ) : null}
      </div>
    </div>
  );
};
