import { getRouteApi, Link } from '@tanstack/react-router';
import { useVirtualizer } from '@tanstack/react-virtual';
import { Database } from 'lucide-react';
import { useMemo, useRef, useState } from 'react';
import type { ObjectVersion } from '../../api/contract.ts';
import { errorText } from '../../api/http.ts';
import { maxCompared, useCount, useDatasets, useRows, useVersions } from '../../calls/datasets/data.ts';
import { compareRows, type Form, forms, type Row, toFile, toLine } from '../../calls/datasets/rows.ts';
import { getTableDigest, readTable } from '../../calls/datasets/table.ts';
import { countedText, countText } from '../../data/format.ts';
import { isObject } from '../../data/values.ts';
import { Person, useAllowed, useRead, useSession } from '../../session/session.tsx';
import { maxListed } from '../../session/stored.ts';
import { Button, Empty, Failure, Moment, Notice, QueryStatus } from '../../ui/controls.tsx';
import { DiffView } from '../../ui/diff-view.tsx';
import { Choice, Segments } from '../../ui/fields.tsx';
import { goTo, ObjectList, Versions, versionOption } from '../../ui/object-list.tsx';
import { Modal } from '../../ui/popups.tsx';
import { saveFile } from '../../ui/save-file.ts';
import { View } from '../../ui/view.tsx';
import { useWork } from '../../ui/work.ts';
import { ImportForm } from './import-form.tsx';
import { RowForm } from './row-form.tsx';

const route = getRouteApi('/datasets');

/** The height of a row in pixels, as the styles have it. */
const rowHeight = 36;

const RowLine = ({ row }: { row: Row | undefined }) => {
  if (!row) return <span className="muted">…</span>;
  if (!('inputs' in row)) return <span className="cut whole">{toLine(row)}</span>;
  return (
    <>
      <span className="cut">{toLine(row.inputs)}</span>
      <span className="cut muted">{toLine(row.expected)}</span>
    </>
  );
};

interface RowsProps {
  readonly project: string;
  readonly table: string;
  readonly count: number;
  readonly onOpen: (place: number, row: Row) => void;
}

/** The rows of a version, of which only those in sight are read and in the document. */
const Rows = ({ project, table, count, onOpen }: RowsProps) => {
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 10,
  });
  const items = virtual.getVirtualItems();
  const { rowAt, error } = useRows(project, table, items[0]?.index ?? 0, items.at(-1)?.index ?? -1);
  return (
    <>
      {error ? <Notice kind="error">{errorText(error)}</Notice> : null}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard must reach it */}
      <div className="dataset-rows" ref={scroller} role="region" aria-label="Rows" tabIndex={0}>
        <ul style={{ blockSize: virtual.getTotalSize() }}>
          {items.map(({ index, start }) => {
            const row = rowAt(index);
            return (
              <li key={index} style={{ transform: `translateY(${start}px)` }}>
                <button
                  type="button"
                  className="dataset-row"
                  dir="auto"
                  onClick={() => row && onOpen(index, row)}
                >
                  <span className="numeric muted">
                    <span className="hidden">Row </span>
                    {countText(index + 1)}
                  </span>
                  <RowLine row={row} />
                </button>
              </li>
            );
          })}
        </ul>
      </div>
    </>
  );
};

const toLines = (rows: readonly Row[]): string => rows.map((row) => JSON.stringify(row)).join('\n');

/** The rows that two versions do not share. */
const Differences = ({ base, shown }: { base: ObjectVersion; shown: ObjectVersion }) => {
  const { project_id: project } = shown;
  const query = useRead(
    ['dataset difference', project, base.digest, shown.digest],
    async ({ client, signal }) => {
      const readRows = async (version: ObjectVersion) => {
        const digest = getTableDigest(version);
        const { count } = await client.ask('/table/query_stats', { project_id: project, digest }, signal);
        return count > maxCompared ? undefined : readTable(client, project, digest, { signal });
      };
      const [before, after] = await Promise.all([readRows(base), readRows(shown)]);
      return before && after ? compareRows(before, after) : null;
    },
    { staleTime: Number.POSITIVE_INFINITY },
  );
  const { data } = query;
  const texts = useMemo(() => data && ([toLines(data.removed), toLines(data.added)] as const), [data]);
  if (data === null)
    return <p className="muted">Versions of more than {countText(maxCompared)} rows are not compared.</p>;
  return (
    <>
      <QueryStatus queries={[query]} loading="Comparing…" />
      {data && texts ? (
        <>
          <p className="muted">
            {countedText(data.added.length, 'row')} added, {countText(data.removed.length)} removed. A changed
            row is one of each.
          </p>
          <DiffView
            one={texts[0]}
            other={texts[1]}
            label={`Differences between v${base.version_index} and v${shown.version_index}`}
          />
        </>
      ) : null}
    </>
  );
};

/** Saves all rows of a version as a file. */
const ExportForm = ({ version, onClose }: { version: ObjectVersion; onClose: () => void }) => {
  const { client } = useSession();
  const [form, setForm] = useState<Form>('jsonl');
  const { doing: progress, isBusy, error, run } = useWork();
  const save = () =>
    run(
      async ({ say }) => {
        const onProgress = (rows: number) => say(countedText(rows, 'row'));
        const rows = await readTable(client, version.project_id, getTableDigest(version), { onProgress });
        const text = toFile(
          rows.map(({ val }) => val),
          form,
        );
        saveFile(new Blob([text]), `${version.object_id}-v${version.version_index}.${form}`);
        onClose();
      },
      { as: countedText(0, 'row'), failed: 'Nothing was saved.' },
    );
  return (
    <div className="stack">
      <Segments fit legend="Form" value={form} options={forms} onChange={setForm} />
      {error ? <Notice kind="error">{error}</Notice> : null}
      <div className="row-end">
        <Button kind="primary" disabled={isBusy} onClick={save}>
          {progress ?? 'Save'}
        </Button>
      </div>
    </div>
  );
};

type Opened =
  | { readonly kind: 'export' | 'import' | 'add' }
  | { readonly kind: 'row'; readonly place: number; readonly row: Row };

const titles = { export: 'Export', import: 'Import', add: 'Add a row' } as const;

interface VersionProps {
  readonly shown: ObjectVersion;
  readonly versions: readonly ObjectVersion[];
  readonly base: ObjectVersion | undefined;
}

/** A version with its rows, or with what differs from another one. */
const Version = ({ shown, versions, base }: VersionProps) => {
  const { project_id: project, object_id: name } = shown;
  const navigate = route.useNavigate();
  const table = getTableDigest(shown);
  const count = useCount(project, table);
  const [opened, setOpened] = useState<Opened>();
  const mayWrite = useAllowed(project, 'write');
  const mayEdit = mayWrite && shown === versions[0];
  const close = () => setOpened(undefined);
  const others = versions.filter(({ digest }) => digest !== shown.digest);
  const description = isObject(shown.val) ? shown.val.description : undefined;
  return (
    <section className="stack" aria-label="Version">
      <div className="row-between wrap">
        <h2 dir="auto">
          {name} v{shown.version_index}
        </h2>
        <span className="row-end wrap">
          {mayEdit ? (
            <Link to="/evaluate" search={{ project, dataset: name }} className="button plain">
              Evaluate a prompt
            </Link>
          ) : null}
          {mayEdit ? <Button onClick={() => setOpened({ kind: 'add' })}>Add a row</Button> : null}
          {mayWrite ? <Button onClick={() => setOpened({ kind: 'import' })}>Import</Button> : null}
          <Button onClick={() => setOpened({ kind: 'export' })}>Export</Button>
        </span>
      </div>
      <p className="facts">
        <Moment time={shown.created_at} />
        <Person user={shown.svc_user_id} />
        {count.data === undefined ? null : <span>{countedText(count.data, 'row')}</span>}
      </p>
      {typeof description === 'string' ? <p dir="auto">{description}</p> : null}
      {others.length > 0 ? (
        <Choice
          className="compared"
          label="Differences from"
          value={base?.digest ?? ''}
          options={[['', 'no version'], ...others.map(versionOption)]}
          onChange={(next) =>
            navigate({
              search: ({ base: _, ...before }) => ({ ...before, ...(next && { base: next }) }),
              replace: true,
            })
          }
        />
      ) : null}
      <QueryStatus queries={[count]} loading="Counting rows…" />
      {base ? <Differences base={base} shown={shown} /> : null}
      {!base && count.data ? (
        <Rows
          key={table}
          project={project}
          table={table}
          count={count.data}
          onOpen={(place, row) => setOpened({ kind: 'row', place, row })}
        />
      ) : null}
      {!base && count.data === 0 ? <p className="muted">This version has no rows.</p> : null}
      <Modal
        title={opened?.kind === 'row' ? `Row ${countText(opened.place + 1)}` : titles[opened?.kind ?? 'add']}
        open={opened !== undefined}
        onClose={close}
        wide={opened?.kind === 'row' || opened?.kind === 'add'}
      >
        {opened?.kind === 'export' ? <ExportForm version={shown} onClose={close} /> : null}
        {opened?.kind === 'import' ? <ImportForm project={project} dataset={name} onClose={close} /> : null}
        {opened?.kind === 'row' || opened?.kind === 'add' ? (
          <RowForm
            version={shown}
            {...(opened.kind === 'row' && { place: opened.place, row: opened.row })}
            mayEdit={mayEdit}
            onClose={close}
          />
        ) : null}
      </Modal>
    </section>
  );
};

const Selected = () => {
  const { project, dataset, version, base } = route.useSearch();
  const query = useVersions(project, dataset);
  const { data = [] } = query;
  if (dataset === undefined) return <p className="muted to-choose">Choose a dataset to see its rows.</p>;
  if (!query.data) return <QueryStatus queries={[query]} loading="Loading versions…" />;
  const shown = version === undefined ? data[0] : data.find(({ digest }) => digest === version);
  if (!shown)
    return (
      <Notice kind="error">This version does not exist: it was deleted, or the link is incomplete.</Notice>
    );
  try {
    getTableDigest(shown);
  } catch (error) {
    return <Failure error={error} onRetry={query.refetch} />;
  }
  return (
    <div key={dataset} ref={goTo} tabIndex={-1} className="stack">
      <Versions
        versions={data}
        shown={shown}
        linkTo={({ digest }) => ({ to: '/datasets', search: { project, dataset, version: digest } })}
      />
      <Version
        shown={shown}
        versions={data}
        base={data.find(({ digest }) => digest === base && digest !== shown.digest)}
      />
    </div>
  );
};

/** The datasets of a project: their rows, versions and files. */
export const DatasetsView = () => {
  const { project } = route.useSearch();
  const mayWrite = useAllowed(project, 'write');
  const query = useDatasets(project);
  const [importing, setImporting] = useState(false);
  const { data } = query;
  return (
    <View
      title="Datasets"
      actions={
        mayWrite ? (
          <Button kind="primary" onClick={() => setImporting(true)}>
            Import a dataset
          </Button>
        ) : null
      }
    >
      <QueryStatus queries={[query]} loading="Loading datasets…" />
      {data?.length === 0 ? (
        <Empty icon={Database} title={`${project} has no datasets yet`}>
          A dataset has inputs with what is expected of their answers, to evaluate models and prompts on.
          Import a file, or choose <em>Add to dataset</em> beside a call of a trace.
        </Empty>
      ) : null}
      {data && data.length > 0 ? (
        <div className="objects">
          <ObjectList
            kind="datasets"
            objects={data}
            most={maxListed}
            linkTo={(dataset) => ({ to: '/datasets', search: { project, dataset } })}
          />
          <Selected />
        </div>
      ) : null}
      <Modal title="Import a dataset" open={importing} onClose={() => setImporting(false)}>
        <ImportForm project={project} onClose={() => setImporting(false)} />
      </Modal>
    </View>
  );
};
