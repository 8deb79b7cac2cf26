import { useEffect, useState } from 'react';
import { retentionClass } from '../../../api/shared/classes.ts';
import type { Client } from '../../api/client.ts';
import { whole } from '../../calls/figures/requests.ts';
import { countedText } from '../../data/format.ts';
import { Lacking, type Reading, useAllowed, useSession } from '../../session/session.tsx';
import { Button, Notice, QueryStatus } from '../../ui/controls.tsx';
import { bindFields, Form, Input } from '../../ui/fields.tsx';
import { Confirm } from '../../ui/popups.tsx';
import { useWork } from '../../ui/work.ts';
import { type Numbers, toTyped, typedNumbers } from './numbers.ts';
import { useStoredObject } from './stored-object.ts';

const labels = {
  calls_days: 'Days that calls are kept',
  feedback_days: 'Days that feedback is kept',
} as const;

type Field = keyof typeof labels;

const fields = Object.keys(labels) as Field[];

const dayMs = 86_400_000;

/** When feedback may have begun. */
const beginning = '2020-01-01T00:00:00Z';

/** How long to wait before the request is sent again, in ms. */
const pauseMs = 5000;

/** What a retention takes away of what is stored now. */
interface Taken {
  readonly numbers: Numbers<Field>;
  readonly calls: number;
  readonly feedback: number;
}

/** What is older than a retention allows. */
const readTaken = async (client: Client, project: string, numbers: Numbers<Field>): Promise<Taken> => {
  const { calls_days: ofCalls, feedback_days: ofFeedback } = numbers;
  const daysAgo = (days: number) => new Date(Date.now() - days * dayMs).toISOString();
  const countCalls = async (days: number): Promise<number> => {
    const isOlder = { $lt: [{ $getField: 'started_at' }, { $literal: daysAgo(days) }] };
    const request = { project_id: project, query: { $expr: isOlder } };
    return (await client.ask('/calls/query_stats', request)).count;
  };
  const countFeedback = async (days: number): Promise<number> => {
    const request = { project_id: project, start: beginning, end: daysAgo(days), granularity: whole };
    const { buckets } = await client.ask('/feedback/stats', request);
    return buckets.reduce((sum, { count }) => sum + Number(count), 0);
  };
  const [calls, feedback] = await Promise.all([
    ofCalls === undefined ? 0 : countCalls(ofCalls),
    ofFeedback === undefined ? 0 : countFeedback(ofFeedback),
  ]);
  return { numbers, calls, feedback };
};

const wordsOf = ({ calls, feedback }: Taken): string =>
  `${countedText(calls, 'call')} and ${countedText(feedback, 'record')} of feedback are older than that. They are deleted, usually within two days, and nothing brings them back.`;

/** Applies a stored retention to what was stored before it: sends the request until all is done. */
const applyRetention = async (
  { client, signal }: Reading,
  project: string,
  say: (doing: string) => void,
): Promise<void> => {
  for (let done = false; !done; ) {
    const answer = await client.ask('/project/retention', { project_id: project }, signal);
    const { calls, feedback } = answer.applied;
    say(`Applied to ${countedText(calls, 'call')} and ${countedText(feedback, 'record')} of feedback…`);
    done = answer.done;
    // The service waits until all its functions know of the change.
    if (!done) await new Promise((resolve) => setTimeout(resolve, pauseMs));
    signal.throwIfAborted();
  }
};

interface RetentionFormProps {
  readonly project: string;
  readonly present: Numbers<Field>;
  readonly store: (numbers: Numbers<Field>) => Promise<void>;
}

/** Changes the retention, once it was said what that takes away. */
const RetentionForm = ({ project, present, store }: RetentionFormProps) => {
  const { client } = useSession();
  const [typed, setTyped] = useState(() => toTyped(present, fields));
  const [taken, setTaken] = useState<Taken>();
  const field = bindFields(typed, (changes) => setTyped((before) => ({ ...before, ...changes })));
  const [isApplying, setApplying] = useState(false);
  const { doing, isBusy, error, run, stop } = useWork();
  useEffect(() => stop, [stop]);
  const save = (numbers: Numbers<Field>) =>
    run(
      async ({ signal, say }) => {
        setTaken(undefined);
        await store(numbers);
        setApplying(true);
        await applyRetention({ client, signal }, project, say).finally(() => setApplying(false));
      },
      { as: 'Saving…', failed: 'Not all is done: save it again.' },
    );
  const submit = async () => {
    let harmless: Numbers<Field> | undefined;
    await run(
      async () => {
        const numbers = typedNumbers(typed, labels, true);
        const isLess = fields.some((name) => (numbers[name] ?? Infinity) < (present[name] ?? Infinity));
        if (isLess) setTaken(await readTaken(client, project, numbers));
        else harmless = numbers;
      },
      { as: 'Looking…', failed: 'Nothing was saved.' },
    );
    if (harmless) await save(harmless);
  };
  return (
    <Form className="stack" aria-label="Retention of the project" onSubmit={submit}>
      <div className="price-fields">
        {fields.map((name) => (
          <Input
            key={name}
            label={labels[name]}
            inputMode="numeric"
            placeholder="for good"
            {...field(name)}
          />
        ))}
      </div>
      {error ? <Notice kind="error">{error}</Notice> : null}
      {isApplying ? (
        <Notice kind="info">
          What is reported from now on has the new retention. To apply it to what is stored takes 90 seconds
          or more. If you leave this view before, save again to go on.
        </Notice>
      ) : null}
      <div>
        <Button kind="primary" type="submit" idle={isBusy}>
          {doing ?? 'Save'}
        </Button>
      </div>
      <Confirm
        title="Delete what is older?"
        action="Save and delete"
        open={taken !== undefined}
        onClose={() => setTaken(undefined)}
        onConfirm={() => taken && save(taken.numbers)}
      >
        {taken ? wordsOf(taken) : ''}
      </Confirm>
    </Form>
  );
};

/** For how long calls and feedback of the project are kept. */
export const RetentionSection = ({ project }: { project: string }) => {
  const { query, store } = useStoredObject(project, { id: 'retention', className: retentionClass, fields });
  const mayChange = useAllowed(project, 'admin');
  const { data } = query;
  return (
    <>
      <p className="muted">
        What is older is deleted: calls by when they started, feedback by when it was given. The deployment
        may have a retention of its own, the setting <code>retentionDays</code>: the shorter one counts.
      </p>
      <QueryStatus queries={[query]} loading="Loading the retention…" />
      {data && mayChange ? (
        <RetentionForm key={project} project={project} present={data} store={store} />
      ) : null}
      {data && !mayChange ? (
        <>
          <p>
            Calls are kept {data.calls_days ? `for ${countedText(data.calls_days, 'day')}` : 'for good'},
            feedback {data.feedback_days ? `for ${countedText(data.feedback_days, 'day')}` : 'for good'}.
          </p>
          <Lacking project={project} needs="admin" what="to change this" />
        </>
      ) : null}
    </>
  );
};
