import { getRouteApi, Link } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { getCallName, getDuration, getStatus } from '../../api/calls.ts';
import type { Call } from '../../api/contract.ts';
import { errorText } from '../../api/http.ts';
import { CallFigures, StatusBadge } from '../../calls/badges.tsx';
import { readRows, useCall, useTrace, withHeaderColumns } from '../../calls/data.ts';
import { type TreeLine, type TreeNode, toTree } from '../../calls/trace/tree.ts';
import { countText, durationText, momentText } from '../../data/format.ts';
import { useRead } from '../../session/session.tsx';
import { Button, Check, Moment, Notice, QueryStatus } from '../../ui/controls.tsx';
import { valueText } from '../../ui/diff.ts';
import { SideBySide } from '../../ui/diff-view.tsx';
import { Form } from '../../ui/fields.tsx';
import { Markdown } from '../../ui/text.tsx';
import { View } from '../../ui/view.tsx';
import { compareFacts, formatAnswers, nodeIn, pairSteps, takenBy } from './compare.ts';

/** How many calls are offered. */
const offeredCount = 30;

/** The newest calls of the same operation. */
const useOffered = ({ project_id, op_name, id }: Call) =>
  useRead(
    ['offered', project_id, op_name],
    (reading) =>
      readRows(reading, {
        project_id,
        filter: { op_names: [op_name] },
        sort_by: [{ field: 'started_at', direction: 'desc' }],
        columns: withHeaderColumns(),
        limit: offeredCount,
      }),
    { select: (rows) => rows.filter((row) => row.id !== id) },
  );

/** Chooses what to compare a call with: a call of the same operation, or any by its id. */
const Chooser = ({ call, onChoose }: { call: Call; onChoose: (id: string) => void }) => {
  const { data, error } = useOffered(call);
  const [id, setId] = useState('');
  const submit = () => {
    onChoose(id.trim());
  };
  return (
    <section className="stack" aria-label="Compare with">
      <p>
        Compare <strong dir="auto">{getCallName(call)}</strong> with a call of the same operation, or with any
        call:
      </p>
      <Form className="actions" onSubmit={submit}>
        <input
          className="id-box"
          aria-label="Id of a call"
          placeholder="Id of a call"
          spellCheck={false}
          value={id}
          onChange={(event) => setId(event.target.value)}
        />
        <Button type="submit" disabled={id.trim() === ''}>
          Compare
        </Button>
      </Form>
      {error ? <Notice kind="error">{errorText(error)}</Notice> : null}
      {data?.length === 0 ? <p className="muted">There is no other call of this operation.</p> : null}
      <ul className="changes">
        {data?.map((row) => (
          <li key={row.id}>
            <Link
              to="/compare"
              search={{ project: call.project_id, left: call.id, right: row.id }}
              className="change"
            >
              <span className="cut" dir="auto">
                {getCallName(row)}
              </span>
              <StatusBadge status={getStatus(row)} />
              <span className="muted">
                {momentText(row.started_at)}
                {row.ended_at ? ` · ${durationText(getDuration(row))}` : ''}
              </span>
            </Link>
          </li>
        ))}
      </ul>
    </section>
  );
};

/** How many steps are shown. */
const shownCount = 200;

const Cell = ({ line, mark }: { line: TreeLine | undefined; mark: 'removed' | 'added' | 'same' }) => {
  if (!line) return <div className="side absent" />;
  const { node, depth } = line;
  return (
    <div
      className={`side step-side ${mark}`}
      style={{ paddingInlineStart: `${0.6 + Math.min(8, depth) * 0.9}rem` }}
    >
      <span className="cut" dir="auto">
        {mark === 'same' ? null : <span className="hidden">only here: </span>}
        {node.name}
      </span>
      {getStatus(node.call) === 'error' ? <span className="error-text">failed</span> : null}
      <CallFigures usage={node.totalUsage} duration={durationText(node.end - node.start)} />
    </div>
  );
};

interface StepsTableProps {
  readonly left: TreeNode | undefined;
  readonly right: TreeNode | undefined;
}

/** What is below two calls, step by step: those that only one of them has are marked. */
const StepsTable = ({ left, right }: StepsTableProps) => {
  const pairs = useMemo(() => pairSteps(left, right), [left, right]);
  if (pairs.length === 0) return null;
  return (
    <section className="stack" aria-label="Steps">
      <h2>Steps</h2>
      <div className="diff equals">
        {pairs.slice(0, shownCount).map((pair) => (
          <div key={`${pair.left?.node.call.id} ${pair.right?.node.call.id}`} className="sides">
            <Cell line={pair.left} mark={pair.right ? 'same' : 'removed'} />
            <Cell line={pair.right} mark={pair.left ? 'same' : 'added'} />
          </div>
        ))}
      </div>
      {pairs.length > shownCount ? (
        <p className="muted">{countText(pairs.length - shownCount)} more steps are in the traces.</p>
      ) : null}
    </section>
  );
};

const Heading = ({ call, side }: { call: Call; side: string }) => (
  <div className="side-head">
    <span className="muted">{side}</span>
    <Link to="/trace" search={{ project: call.project_id, trace: call.trace_id, call: call.id }} dir="auto">
      {getCallName(call)}
    </Link>
    <Moment time={call.started_at} className="muted" />
  </div>
);

interface FactsProps {
  readonly left: Call;
  readonly right: Call;
  readonly nodes: readonly [left: TreeNode | undefined, right: TreeNode | undefined];
}

const Facts = ({ left, right, nodes }: FactsProps) => (
  <div className="scroll-x">
    <table className="plain-table wide facts-table">
      <thead>
        <tr>
          <th>
            <span className="hidden">Fact</span>
          </th>
          <th>left</th>
          <th>right</th>
        </tr>
      </thead>
      <tbody>
        {compareFacts({ call: left, node: nodes[0] }, { call: right, node: nodes[1] }).map((fact) => (
          <tr key={fact.title} className={fact.left === fact.right ? '' : 'differs'}>
            <th scope="row">{fact.title}</th>
            <td dir="auto">{fact.left}</td>
            <td dir="auto">{fact.right}</td>
          </tr>
        ))}
      </tbody>
    </table>
  </div>
);

/** The tree below a call, from the headers of its trace. */
const useNode = (call: Call) => {
  const { data } = useTrace(call.project_id, call.trace_id);
  return useMemo(() => data && nodeIn(toTree(data.calls, data.readAt), call.id), [data, call.id]);
};

interface PairProps {
  readonly left: Call;
  readonly right: Call;
}

const isRunning = (call: Call): boolean => getStatus(call) === 'running';

/** Markdown that is easier to read than to compare: titles, lists, tables, code, words in bold. */
const marked = /\*\*\S|\]\(|^(?:#{1,6}|[-*+>]|\d{1,3}[.)])\s|^(?:```|\|)/m;

const Answer = ({ call, text }: { call: Call; text: string }) => (
  <div className="side answer">
    {text === '' ? (
      <p className={call.exception ? 'error-text' : 'muted'}>
        {isRunning(call) ? 'It still runs.' : (call.exception?.split('\n', 1)[0] ?? 'It gave nothing.')}
      </p>
    ) : (
      <Markdown text={text} />
    )}
  </div>
);

/** What both gave, beside each other: the first thing that somebody wants to know. */
const Answers = ({ left, right }: PairProps) => {
  const [one, other] = useMemo(() => formatAnswers(left, right), [left, right]);
  const [chosen, setChosen] = useState<boolean>();
  if (one === '' && other === '') return null;
  const isOne = one === '' || other === '';
  const asRead = isOne || (chosen ?? (marked.test(one) || marked.test(other)));
  return (
    <section className="stack" aria-label="Answers">
      <div className="row-between">
        <h2>Answers</h2>
        {isOne || one === other ? null : (
          <Check label="Highlight differences" checked={!asRead} onChange={(marked) => setChosen(!marked)} />
        )}
      </div>
      {one === other ? (
        <div className="card">
          <p className="muted">Identical answers:</p>
          <Markdown text={one} />
        </div>
      ) : asRead ? (
        <div className="diff prose sides">
          <Answer call={left} text={one} />
          <Answer call={right} text={other} />
        </div>
      ) : (
        <SideBySide one={one} other={other} label="Differences of the answer" prose />
      )}
    </section>
  );
};

/** What both took: messages as a text, and the other inputs. */
const Inputs = ({ left, right }: PairProps) => {
  const [one, other] = useMemo(() => [takenBy(left), takenBy(right)], [left, right]);
  const hasMessages = one.messages !== '' || other.messages !== '';
  return (
    <>
      {hasMessages ? (
        <section className="stack" aria-label="Messages">
          <h2>Messages</h2>
          <SideBySide one={one.messages} other={other.messages} label="Differences of the messages" />
        </section>
      ) : null}
      <section className="stack" aria-label="Inputs">
        <h2>{hasMessages ? 'Parameters' : 'Inputs'}</h2>
        <SideBySide one={one.rest} other={other.rest} label="Differences of inputs" />
      </section>
    </>
  );
};

const raw = ['inputs', 'output', 'attributes'] as const;

/** A part of both calls as it was reported. It is compared once somebody wants to see it. */
const RawField = ({ left, right, part }: PairProps & { part: (typeof raw)[number] }) => {
  const [open, setOpen] = useState(false);
  return (
    <details className="stack" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>All of {part} as data</summary>
      {open ? (
        <SideBySide
          one={valueText(left[part])}
          other={valueText(right[part])}
          label={`Differences of ${part} as data`}
        />
      ) : null}
    </details>
  );
};

/** Two calls with all that differs between them: answers, facts, inputs, steps, and data. */
const Comparison = ({ left, right }: PairProps) => {
  const leftNode = useNode(left);
  const rightNode = useNode(right);
  return (
    <>
      <div className="sides side-heads">
        <Heading call={left} side="left" />
        <Heading call={right} side="right" />
      </div>
      <Answers left={left} right={right} />
      <Facts left={left} right={right} nodes={[leftNode, rightNode]} />
      <Inputs left={left} right={right} />
      {leftNode && rightNode ? <StepsTable left={leftNode} right={rightNode} /> : null}
      {raw.map((part) => (
        <RawField key={part} left={left} right={right} part={part} />
      ))}
    </>
  );
};

const route = getRouteApi('/compare');

/** Two calls, or two traces by their roots, with their differences marked. */
export const CompareView = () => {
  const { project, left, right } = route.useSearch();
  const navigate = route.useNavigate();
  const queries = [useCall(project, left), useCall(project, right)] as const;
  const one = queries[0].data;
  const other = queries[1].data;
  const toAll = (
    <Link to="/traces" search={{ project }}>
      All traces
    </Link>
  );
  return (
    <View
      title="Compare"
      actions={
        left && right ? (
          <Button onClick={() => navigate({ search: { project, left: right, right: left } })}>Swap</Button>
        ) : null
      }
    >
      <QueryStatus queries={queries} loading="Loading the calls…" />
      {one === null || other === null ? (
        <Notice kind="error" action={toAll}>
          One of the calls does not exist: it was deleted, or its id is incomplete.
        </Notice>
      ) : null}
      {left === undefined ? (
        <Notice kind="info" action={toAll}>
          Select two rows in a list, or choose <em>Compare</em> beside a call.
        </Notice>
      ) : null}
      {one && right === undefined ? (
        <Chooser call={one} onChoose={(id) => navigate({ search: { project, left: one.id, right: id } })} />
      ) : null}
      {one && other ? <Comparison left={one} right={other} /> : null}
    </View>
  );
};
