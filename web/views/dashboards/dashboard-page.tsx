import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Ellipsis, GripVertical, LayoutDashboard } from 'lucide-react';
import { type PointerEvent, useEffect, useMemo, useRef, useState } from 'react';
import { errorText } from '../../api/http.ts';
import {
  type Dashboard,
  type Draft,
  isWide,
  moved,
  type StoredChart,
  storedTitle,
} from '../../calls/dashboards/dashboard.ts';
import { Overtaken, useStoreDashboard } from '../../calls/dashboards/stored.ts';
import { ChartSkeleton, WhenSeen } from '../../calls/figures/charts.tsx';
import { toTime, usePeriod } from '../../calls/figures/read.ts';
import type { Period } from '../../calls/figures/requests.ts';
import { TimeMenu } from '../../calls/filters/time-menu.tsx';
import type { useChange } from '../../navigation/change.ts';
import type { DashboardsSearch, Percentile } from '../../navigation/search.ts';
import { useKept } from '../../session/kept.ts';
import { readAgain, useAllowed } from '../../session/session.tsx';
import { Button, Check, Empty, Notice, RefreshButton } from '../../ui/controls.tsx';
import { Form, Input } from '../../ui/fields.tsx';
import { Confirm, Menu, Modal } from '../../ui/popups.tsx';
import { HeadTools, View } from '../../ui/view.tsx';
import { ChartCard } from './chart-card.tsx';
import { ChartForm } from './chart-form.tsx';

/** A chart that is being arranged, under a key that stays with it. */
interface Placed {
  readonly key: number;
  readonly stored: StoredChart;
}

/** A dashboard as somebody changes it. */
interface Editing extends Pick<Draft, 'name' | 'isStart'> {
  /** The version that the changes are of. */
  readonly version: string;
  readonly charts: readonly Placed[];
}

const toEditing = ({ name, isStart, digest, charts }: Dashboard): Editing => ({
  name,
  isStart,
  version: digest,
  charts: charts.map((stored, key) => ({ key, stored })),
});

const without = (stored: StoredChart, field: string): StoredChart => {
  const { [field]: _, ...rest } = stored;
  return rest;
};

interface ToolsProps {
  readonly title: string;
  readonly stored: StoredChart;
  readonly place: number;
  readonly count: number;
  readonly onMove: (to: number) => void;
  /** The place under the pointer while it is dragged; undefined once it is not. */
  readonly onDrag: (to: number | undefined) => void;
  readonly onChange: (stored: StoredChart) => void;
  readonly onRemove: () => void;
}

/** The place of the chart at a point of the window. */
const placeAt = ({ clientX, clientY }: PointerEvent): number | undefined => {
  const place = document
    .elementFromPoint(clientX, clientY)
    ?.closest('[data-place]')
    ?.getAttribute('data-place');
  return place === null || place === undefined ? undefined : Number(place);
};

const keySteps: Readonly<Record<string, -1 | 1>> = {
  ArrowLeft: -1,
  ArrowUp: -1,
  ArrowRight: 1,
  ArrowDown: 1,
};

/** Moves a chart, by the pointer, by keys or by its menu, and what else is done with it. */
const ChartTools = (props: ToolsProps) => {
  const { title, stored, place, count, onMove, onDrag, onChange, onRemove } = props;
  const [renamed, setRenamed] = useState<string>();
  const wide = isWide(stored);
  const { metric, kind } = stored;
  const other = metric === 'score' ? 'distribution' : 'lines';
  const kindText =
    metric === 'score'
      ? kind === other
        ? 'Show the score'
        : 'Show the distribution'
      : kind === other
        ? 'Show as bars'
        : 'Show as lines';
  const items = [
    ...(place > 0 ? [{ label: 'Move before', onSelect: () => onMove(place - 1) }] : []),
    ...(place < count - 1 ? [{ label: 'Move after', onSelect: () => onMove(place + 1) }] : []),
    {
      label: wide ? 'One column' : 'Two columns',
      onSelect: () => onChange(wide ? without(stored, 'columns') : { ...stored, columns: 2 }),
    },
    ...(metric === 'latency_ms'
      ? []
      : [
          {
            label: kindText,
            onSelect: () => onChange(kind === other ? without(stored, 'kind') : { ...stored, kind: other }),
          },
        ]),
    { label: 'Rename…', onSelect: () => setRenamed(title) },
    { label: 'Remove', onSelect: onRemove },
  ];
  const close = () => setRenamed(undefined);
  const rename = () => {
    const next = (renamed ?? '').trim();
    onChange(next === '' ? without(stored, 'title') : { ...stored, title: next });
    close();
  };
  return (
    <>
      <button
        type="button"
        className="button quiet icon drag-handle"
        aria-label={`Move ${title}`}
        title="Drag, or use the arrow keys"
        onKeyDown={(event) => {
          const step = keySteps[event.key];
          if (step === undefined) return;
          event.preventDefault();
          onMove(place + step);
        }}
        onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
        onPointerMove={(event) => {
          if (event.currentTarget.hasPointerCapture(event.pointerId)) onDrag(placeAt(event));
        }}
        onPointerUp={(event) => {
          const to = placeAt(event);
          onDrag(undefined);
          if (to !== undefined && to !== place) onMove(to);
        }}
        onPointerCancel={() => onDrag(undefined)}
      >
        <GripVertical />
      </button>
      <Menu label={<Ellipsis />} name={`More of ${title}`} className="button quiet icon" items={items} />
      <Modal title="Rename the chart" open={renamed !== undefined} onClose={close}>
        <Form className="stack" onSubmit={rename}>
          <Input
            label="Title"
            spellCheck
            maxLength={100}
            value={renamed ?? ''}
            onChange={setRenamed}
            hint="Empty for the usual one."
          />
          <div className="row-end">
            <Button onClick={close}>Cancel</Button>
            <Button type="submit" kind="primary">
              Rename
            </Button>
          </div>
        </Form>
      </Modal>
    </>
  );
};

interface GridProps {
  readonly project: string;
  readonly period: Period;
  readonly charts: readonly Placed[];
  /** Changes the charts. @default - they are only looked at */
  readonly onCharts: ((charts: readonly Placed[]) => void) | undefined;
  readonly onZoom: (from: number, to: number) => void;
  /** What all charts of latencies show. @default - what each was kept with */
  readonly percentile: Percentile | undefined;
  readonly onPercentile: (percentile: Percentile) => void;
}

/** The charts beside each other. Those out of sight ask for nothing. */
const Grid = ({ project, period, charts, onCharts, onZoom, ...latencies }: GridProps) => {
  const [target, setTarget] = useState<number>();
  const [said, setSaid] = useState('');
  const grid = useRef<HTMLDivElement>(null);
  /** The chart whose handle keeps the focus: its place in the document changes. */
  const held = useRef<number>(undefined);
  // biome-ignore lint/correctness/useExhaustiveDependencies: once the charts have moved
  useEffect(() => {
    const { current: key } = held;
    held.current = undefined;
    if (key !== undefined)
      grid.current?.querySelector<HTMLElement>(`[data-key="${key}"] .drag-handle`)?.focus();
  }, [charts]);
  const move = (from: number, to: number) => {
    const one = charts[from];
    if (!onCharts || !one || to < 0 || to >= charts.length) return;
    held.current = one.key;
    setSaid(`${storedTitle(one.stored)} is number ${to + 1} of ${charts.length}.`);
    onCharts(moved(charts, from, to));
  };
  return (
    <div className={onCharts ? 'dashboard arranging' : 'dashboard'} ref={grid}>
      <span className="hidden" role="status">
        {said}
      </span>
      {charts.map(({ key, stored }, place) => {
        const title = storedTitle(stored);
        const change = (next: StoredChart) =>
          onCharts?.(charts.map((one) => (one.key === key ? { key, stored: next } : one)));
        return (
          <div
            key={key}
            data-key={key}
            data-place={place}
            className={`dashboard-chart ${isWide(stored) ? 'wide-chart' : ''} ${target === place ? 'drop-here' : ''}`}
          >
            {/* Not within the card: whoever drags must not lose the handle as the chart comes in. */}
            {onCharts ? (
              <div className="metric-tools chart-tools">
                <ChartTools
                  title={title}
                  stored={stored}
                  place={place}
                  count={charts.length}
                  onMove={(to) => move(place, to)}
                  onDrag={setTarget}
                  onChange={change}
                  onRemove={() => onCharts(charts.filter((one) => one.key !== key))}
                />
              </div>
            ) : null}
            <WhenSeen fallback={<ChartSkeleton title={title} />}>
              <ChartCard
                project={project}
                period={period}
                stored={stored}
                onZoom={onCharts ? undefined : onZoom}
                {...(!onCharts && latencies)}
              />
            </WhenSeen>
          </div>
        );
      })}
    </div>
  );
};

interface DashboardPageProps {
  readonly search: DashboardsSearch;
  readonly onSearch: ReturnType<typeof useChange<DashboardsSearch>>;
  readonly dashboard: Dashboard;
}

/** A dashboard: its charts, and what changes it. */
export const DashboardPage = ({ search, onSearch, dashboard }: DashboardPageProps) => {
  const { project } = search;
  const { span, period, refresh } = usePeriod(search, '24h');
  const [editing, setEditing] = useKept<Editing | null>(
    'dashboard draft',
    `${project} ${dashboard.id}`,
    null,
  );
  const [asksRemoval, setAsksRemoval] = useState(false);
  const { save, remove } = useStoreDashboard(project);
  const cache = useQueryClient();
  const navigate = useNavigate();
  const mayWrite = useAllowed(project, 'write');
  const shown = useMemo(() => editing ?? toEditing(dashboard), [editing, dashboard]);
  const change = (changes: Partial<Editing>) => editing && setEditing({ ...editing, ...changes });
  const stop = () => {
    save.reset();
    setEditing(null);
  };
  const store = (draft: Editing, version: string | undefined) =>
    save.mutate(
      {
        id: dashboard.id,
        version,
        makeDraft: () => ({
          name: draft.name.trim(),
          isStart: draft.isStart,
          charts: draft.charts.map(({ stored }) => stored),
        }),
      },
      { onSuccess: stop },
    );
  const isOvertaken = save.error instanceof Overtaken;
  const time = (
    <HeadTools>
      <TimeMenu
        span={span}
        onChange={(next) => onSearch({ range: next.range, from: next.from, to: next.to })}
      />
    </HeadTools>
  );
  if (search.form && mayWrite)
    return (
      <View title={`Add a chart to ${dashboard.name}`} narrow>
        {time}
        <ChartForm
          project={project}
          dashboard={dashboard}
          period={period}
          onDone={() => onSearch({ form: undefined })}
        />
      </View>
    );
  return (
    <View
      title={dashboard.name}
      about={dashboard.isStart ? 'the project opens with it' : undefined}
      actions={
        editing ? (
          <>
            <Button onClick={() => setAsksRemoval(true)}>Delete</Button>
            <Button onClick={stop}>Cancel</Button>
            <Button
              kind="primary"
              idle={save.isPending}
              disabled={editing.name.trim() === ''}
              onClick={() => store(editing, editing.version)}
            >
              Save
            </Button>
          </>
        ) : (
          <>
            {mayWrite ? (
              <>
                <Button onClick={() => setEditing(toEditing(dashboard))}>Edit</Button>
                <Button onClick={() => onSearch({ form: true })}>Add chart</Button>
              </>
            ) : null}
            <RefreshButton onClick={refresh} />
          </>
        )
      }
      toolbar={
        editing ? (
          <>
            <Input
              label="Name"
              className="inline-field"
              spellCheck
              maxLength={100}
              value={editing.name}
              onChange={(name) => change({ name })}
            />
            <Check
              label="Open the project with this dashboard"
              checked={editing.isStart}
              onChange={(isStart) => change({ isStart })}
            />
          </>
        ) : undefined
      }
    >
      {time}
      {save.error ? (
        <Notice
          kind="error"
          action={
            isOvertaken && editing ? (
              <span className="row-end wrap">
                <Button
                  onClick={() => {
                    stop();
                    readAgain(cache, { predicate: ({ queryKey: [kind] }) => kind === 'dashboards' });
                  }}
                >
                  Show theirs
                </Button>
                <Button onClick={() => store(editing, undefined)}>Save mine over it</Button>
              </span>
            ) : undefined
          }
        >
          {errorText(save.error)}
        </Notice>
      ) : null}
      {shown.charts.length === 0 ? (
        <Empty
          icon={LayoutDashboard}
          title={`${dashboard.name} has no charts yet`}
          action={
            mayWrite && !editing ? (
              <Button kind="primary" onClick={() => onSearch({ form: true })}>
                Add chart
              </Button>
            ) : undefined
          }
        >
          Choose what a chart shows, of which calls, told apart by what. Or keep one of the overview and of
          the scores here, with the button beside it.
        </Empty>
      ) : (
        <Grid
          project={project}
          period={period}
          charts={shown.charts}
          onCharts={editing ? (charts) => change({ charts }) : undefined}
          onZoom={(start, end) => onSearch(toTime(start, end))}
          percentile={search.percentile}
          onPercentile={(percentile) => onSearch({ percentile })}
        />
      )}
      <Confirm
        title="Delete this dashboard?"
        action="Delete"
        open={asksRemoval}
        onClose={() => setAsksRemoval(false)}
        idle={remove.isPending}
        error={remove.error}
        onConfirm={() =>
          remove.mutate(dashboard.id, {
            onSuccess: () => {
              stop();
              navigate({ to: '/dashboards', search: { project } });
            },
          })
        }
      >
        This deletes all versions of {dashboard.name}. The calls and scores that it shows are kept.
      </Confirm>
    </View>
  );
};
