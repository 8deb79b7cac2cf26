import { Link } from '@tanstack/react-router';
import { useVirtualizer } from '@tanstack/react-virtual';
import {
  type CSSProperties,
  type PointerEvent,
  type RefObject,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
  useSyncExternalStore,
} from 'react';
import { type CallRow, getCallName, getStatus, sumUsage, usageByModel } from '../../api/calls.ts';
import { StatusBadge, WaitBadge } from '../../calls/badges.tsx';
import type { CallList, ListState } from '../../calls/list/call-list.ts';
import { changedPlaces, type Placed, toPlaces } from '../../calls/list/layout.ts';
import { isPlainClick } from '../../calls/list/peek.tsx';
import { getTotals } from '../../calls/list/usage.ts';
import { useAreDollars } from '../../calls/prices.ts';
import { costText } from '../../data/format.ts';
import type { TracesSearch } from '../../navigation/search.ts';
import { Moment, SortButton } from '../../ui/controls.tsx';
import {
  type About,
  type Column,
  makeColumns,
  PreviewText,
  RowIcon,
  RowLatency,
  showsTags,
  Tags,
} from './columns.tsx';
import { type LookedUp, toTraceSearch, useAnchor, useLookedUp, type usePicked } from './hooks.ts';

/** The heights of a row in pixels, as the styles have them: of one line, and of three on a phone. */
const rowHeight = 36;
const cardHeight = 76;

const narrow = matchMedia('(width < 700px)');
const onNarrow = (listener: () => void) => {
  narrow.addEventListener('change', listener);
  return () => narrow.removeEventListener('change', listener);
};

/** Whether there is no room for columns: each row is a card then. */
const useNarrow = (): boolean => useSyncExternalStore(onNarrow, () => narrow.matches);

interface TraceTableProps {
  readonly list: CallList;
  readonly state: ListState;
  readonly search: TracesSearch;
  /** The row that the keyboard is at; -1 for none. */
  readonly active: number;
  readonly sort: string;
  readonly onSort: (path: string) => void;
  readonly onLayout: (layout: readonly string[]) => void;
  readonly scroller: RefObject<HTMLDivElement | null>;
  /** The rows that are to be compared. */
  readonly picks: ReturnType<typeof usePicked>;
  /** Shows the trace of a row beside the list, by its place. */
  readonly onPeek: (place: number) => void;
}

/** A column in its place. */
interface Shown extends Column {
  readonly width: number | undefined;
}

const isSortedBy = ({ path }: Column, sort: string): boolean =>
  path !== undefined && sort.replace(/^-/, '') === path;

interface ShownOptions {
  readonly columns: readonly Column[];
  readonly places: readonly Placed[];
  readonly rows: readonly CallRow[];
  readonly sort: string;
  readonly getAbout: (row: CallRow) => About;
  /** The ids of those that had something to tell: they stay, so that nothing moves as rows change. */
  readonly shownBefore: Set<string>;
}

/** The columns that are shown: those that are not hidden, and tell something of the rows. */
const shownColumns = ({ columns, places, rows, sort, getAbout, shownBefore }: ShownOptions): Shown[] => {
  const [first] = rows;
  const hasContent = ({ id, has }: Column): boolean => {
    if (!has || shownBefore.has(id)) return true;
    const isTold = first !== undefined && rows.some((row) => has(row, getAbout(row), first));
    if (isTold) shownBefore.add(id);
    return isTold;
  };
  return places.flatMap(({ id, hidden, width }) => {
    const column = columns.find((candidate) => candidate.id === id);
    if (!column || hidden) return [];
    return isSortedBy(column, sort) || hasContent(column) ? [{ ...column, width }] : [];
  });
};

const toTrack = ({ least, grow, width }: Shown): string => {
  if (width !== undefined) return `${width}px`;
  return grow === undefined ? `${least}px` : `minmax(${least}px, ${grow}fr)`;
};

/** The columns as tracks of a grid, and the least width of them all in pixels. */
const toGrid = (columns: readonly Shown[]): CSSProperties =>
  ({
    '--columns': ['1.9rem', ...columns.map(toTrack)].join(' '),
    '--least': `${columns.reduce((sum, { least, width }) => sum + (width ?? least), 56)}px`,
  }) as CSSProperties;

const sortMark = (sort: string, path: string): 'ascending' | 'descending' | undefined => {
  if (sort === path) return 'ascending';
  return sort === `-${path}` ? 'descending' : undefined;
};

interface HeadProps extends Pick<TraceTableProps, 'sort' | 'onSort'> {
  readonly columns: readonly Shown[];
  readonly onWidth: (id: string, width: number) => void;
  readonly allPicked: boolean;
  readonly onPickAll: () => void;
}

/** Makes a column wider or narrower as it is dragged. The menu of columns does so by keyboard. */
const Grip = ({ onWidth }: { onWidth: (width: number) => void }) => {
  const begin = useRef<{ readonly x: number; readonly width: number }>(undefined);
  const onPointerDown = ({ currentTarget, pointerId, clientX }: PointerEvent<HTMLSpanElement>) => {
    currentTarget.setPointerCapture(pointerId);
    begin.current = { x: clientX, width: currentTarget.parentElement?.offsetWidth ?? 0 };
  };
  const onPointerMove = ({ clientX }: PointerEvent) => {
    if (begin.current) onWidth(begin.current.width + clientX - begin.current.x);
  };
  return (
    <span
      className="grip"
      aria-hidden="true"
      onPointerDown={onPointerDown}
      onPointerMove={onPointerMove}
      onPointerUp={() => {
        begin.current = undefined;
      }}
    />
  );
};

const Head = ({ columns, sort, onSort, onWidth, allPicked, onPickAll }: HeadProps) => (
  <div role="row" aria-rowindex={1} className="table-row table-head">
    <div role="columnheader" className="cell select-cell">
      <span className="hidden">Selected</span>
      <input type="checkbox" aria-label="Select all loaded rows" checked={allPicked} onChange={onPickAll} />
    </div>
    {columns.map(({ id, title, path, numeric }) => {
      const mark = path === undefined ? undefined : sortMark(sort, path);
      return (
        <div
          key={id}
          data-column={id}
          role="columnheader"
          aria-sort={mark ?? 'none'}
          className={numeric ? 'cell numeric' : 'cell'}
        >
          {path === undefined ? (
            <span className="cut">{title}</span>
          ) : (
            <SortButton order={mark} title={`Sort by ${path}`} onClick={() => onSort(path)}>
              {title}
            </SortButton>
          )}
          <Grip onWidth={(width) => onWidth(id, width)} />
        </div>
      );
    })}
  </div>
);

interface RowProps {
  readonly row: CallRow;
  readonly about: About;
  readonly onPeek: () => void;
}

/**
 * Leads to the trace, at the call if the call is not its root, and at the text that was looked for. A plain
 * click shows it beside the list instead. One by keyboard, which has no count, opens it.
 */
const RowLink = ({ row, about: { sought }, onPeek }: RowProps) => (
  <Link
    to="/trace"
    search={toTraceSearch(row, sought)}
    className="row-link"
    dir="auto"
    onClick={(event) => {
      if (event.detail === 0 || !isPlainClick(event)) return;
      event.preventDefault();
      onPeek();
    }}
  >
    {getCallName(row)}
  </Link>
);

const Row = ({ columns, ...props }: RowProps & { readonly columns: readonly Shown[] }) =>
  columns.map(({ id, numeric, cell }) => (
    <div key={id} role="cell" className={numeric ? 'cell numeric' : 'cell'}>
      {id === 'name' ? (
        <>
          <RowIcon row={props.row} />
          <RowLink {...props} />
        </>
      ) : (
        <span className="cut" dir="auto">
          {cell(props.row, props.about)}
        </span>
      )}
    </div>
  ));

/** A row on a phone: its name and what it took, and below that what it was about. */
const Card = (props: RowProps) => {
  const { row, about } = props;
  const { usage, errors } = about.figures ?? {};
  const status = getStatus(row);
  return (
    <div role="cell" className="cell row-card">
      <span className="card-line">
        <RowIcon row={row} />
        <RowLink {...props} />
        {status === 'success' ? null : <StatusBadge status={status} />}
        <WaitBadge call={row} />
        {status === 'success' && errors ? <span className="error-text">{errors} failed</span> : null}
        <span className="spring" />
        <span className="muted">
          <RowLatency row={row} />
        </span>
      </span>
      <PreviewText row={row} about={about} />
      <span className="card-line muted">
        <Moment time={row.started_at} />
        {usage?.cost === undefined ? null : <span>{costText(usage.cost)}</span>}
        {row.thread_id ? <span className="cut">{row.thread_id}</span> : null}
        {about.tags ? <Tags tags={about.tags} /> : null}
      </span>
    </div>
  );
};

/** What is known of a row beside the call: of roots by their traces, of other calls by themselves. */
const aboutIn =
  ({ options }: CallList, { figures }: ListState, { usage, previews, hits, tags }: LookedUp, unit: string) =>
  (row: CallRow): About => ({
    figures: options.roots
      ? (figures.get(row.id) ?? getTotals(row, unit) ?? usage.get(row.id))
      : { usage: sumUsage(usageByModel(row).values()) },
    preview: previews.get(row.id),
    hit: hits.get(row.id),
    sought: options.text,
    tags: tags.get(row.id),
  });

/** The calls in rows, of which only those in sight are in the document. */
export const TraceTable = (props: TraceTableProps) => {
  const { list, state, search, active, sort, onLayout, scroller, picks, onPeek } = props;
  const { rows, phase, complete } = state;
  const pickedIds = useMemo(() => new Set(picks.picked), [picks.picked]);
  const isNarrow = useNarrow();
  const height = isNarrow ? cardHeight : rowHeight;
  useAnchor(rows, scroller, height);
  useLayoutEffect(() => {
    const { current: element } = scroller;
    return () => {
      list.scrollTop = element?.scrollTop ?? 0;
    };
  }, [list, scroller]);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => height,
    overscan: 10,
    initialOffset: list.scrollTop,
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: rows of another height are measured anew
  useEffect(() => virtual.measure(), [height]);
  const items = virtual.getVirtualItems();
  const lastSeen = items.at(-1)?.index ?? -1;
  const firstSeen = items[0]?.index ?? 0;
  const sight = { first: firstSeen, last: lastSeen, settled: phase !== 'reading' };
  const lookedUp = useLookedUp(list, state, sight, showsTags(search));
  const areDollars = useAreDollars(list.request.project_id, list.request.include_trace_totals === true);
  const getAbout = aboutIn(list, state, lookedUp, areDollars ? 'USD' : '');
  const columns = useMemo(() => makeColumns(search), [search]);
  const ids = columns.map(({ id }) => id);
  // While a grip is dragged, its column is as wide as that, and the URL follows.
  const [dragged, setDragged] = useState<readonly string[]>();
  const layout = dragged ?? search.layout;
  useEffect(() => {
    if (!dragged) return;
    const timer = setTimeout(() => {
      setDragged(undefined);
      onLayout(dragged);
    }, 300);
    return () => clearTimeout(timer);
  }, [dragged, onLayout]);
  const places = toPlaces(layout, ids);
  const shownBefore = useRef(new Set<string>());
  const shown = shownColumns({ columns, places, rows, sort, getAbout, shownBefore: shownBefore.current });
  useEffect(() => {
    list.inSight = [firstSeen, lastSeen];
  }, [list, firstSeen, lastSeen]);
  useEffect(() => {
    if (phase === 'idle' && rows.length > 0 && lastSeen >= rows.length - 20) list.more();
  }, [list, phase, lastSeen, rows.length]);
  // A list that was in sight stands where it was left, wherever the keyboard had been.
  const followed = useRef(list.inSight[1] < 0 ? -1 : active);
  useEffect(() => {
    if (active !== followed.current) virtual.scrollToIndex(active, { align: 'auto' });
    followed.current = active;
  }, [active, virtual]);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard must reach it
    <div className="table-scroll" ref={scroller} tabIndex={0} role="region" aria-label="Calls">
      <div
        role="table"
        aria-label="Calls"
        aria-rowcount={complete ? rows.length + 1 : -1}
        className={isNarrow ? 'table cards' : 'table'}
        style={isNarrow ? undefined : toGrid(shown)}
      >
        {isNarrow ? null : (
          <div role="rowgroup" className="table-top">
            <Head
              columns={shown}
              sort={sort}
              onSort={props.onSort}
              onWidth={(id, width) => setDragged(changedPlaces(places, id, { width }))}
              allPicked={rows.length > 0 && rows.every(({ id }) => pickedIds.has(id))}
              onPickAll={() => picks.pickAll(rows.map(({ id }) => id))}
            />
          </div>
        )}
        <div role="rowgroup" className="table-body" style={{ height: virtual.getTotalSize() }}>
          {items.map(({ index, start }) => {
            const row = rows[index];
            if (!row) return null;
            return (
              <div
                key={row.id}
                role="row"
                aria-rowindex={index + 2}
                className={index === active ? 'table-row active' : 'table-row'}
                style={{ transform: `translateY(${start}px)` }}
              >
                <div role="cell" className="cell select-cell">
                  <input
                    type="checkbox"
                    aria-label={`Select ${getCallName(row)}`}
                    checked={pickedIds.has(row.id)}
                    onChange={({ nativeEvent }) => {
                      if (nativeEvent instanceof MouseEvent && nativeEvent.shiftKey)
                        picks.pickTo(row.id, rows);
                      else picks.pick(row.id);
                    }}
                  />
                </div>
                {isNarrow ? (
                  <Card row={row} about={getAbout(row)} onPeek={() => onPeek(index)} />
                ) : (
                  <Row row={row} about={getAbout(row)} columns={shown} onPeek={() => onPeek(index)} />
                )}
              </div>
            );
          })}
        </div>
      </div>
    </div>
  );
};
