import { useState } from 'react';
import { retentionClass } from '../../../api/shared/classes.ts';
import type { Operation } from '../../api/contract.ts';
import { countedText, dayText } from '../../data/format.ts';
import { type Reading, useAllowed, useSession } from '../../session/session.tsx';
import { Button, Notice, QueryStatus } from '../../ui/controls.tsx';
import { bindFields, Form, Input } from '../../ui/fields.tsx';
import { Confirm } from '../../ui/popups.tsx';
import { useWork } from '../../ui/work.ts';
import { Lacking } from './lacking.tsx';
import { type Numbers, toTyped, typedNumbers, useStoredObject } from './stored-object.ts';

const labels = {
  calls_days: 'Days that calls are kept',
  feedback_days: 'Days that feedback is kept',
} as const;

type Field = keyof typeof labels;

const fields = Object.keys(labels) as Field[];

const dayMs = 86_400_000;

/** What a retention takes away of what is stored now. */
interface Taken {
  readonly numbers: Numbers<Field>;
  /** Undefined if nothing is said of calls. */
  readonly calls: { readonly count: number; readonly before: string } | undefined;
}

/** The calls that are older than a retention allows. */
const readTaken = async (
  { client }: Pick<Reading, 'client'>,
  project: string,
  numbers: Numbers<Field>,
): Promise<Taken> => {
  const { calls_days: days } = numbers;
  if (days === undefined) return { numbers, calls: undefined };
  const before = new Date(Date.now() - days * dayMs).toISOString();
  const isOlder: Operation = { $lt: [{ $getField: 'started_at' }, { $literal: before }] };
  const request = { project_id: project, query: { $expr: isOlder } };
  return { numbers, calls: { count: (await client.ask('/calls/query_stats', request)).count, before } };
};

const wordsOf = ({ numbers, calls }: Taken): string => {
  const ofCalls = calls
    ? `${countedText(calls.count, 'call')} from before ${dayText(calls.before)} will go, with their feedback. `
    : '';
  const { feedback_days: days } = numbers;
  const ofFeedback =
    days === undefined ? '' : `Feedback that is older than ${countedText(days, 'day')} will go. `;
  return `${ofCalls}${ofFeedback}Nothing brings it back.`;
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
  const looking = useWork();
  const saving = useWork();
  const submit = () =>
    looking.run(
      async () => {
        const numbers = typedNumbers(typed, labels, true);
        const isLess = fields.some((name) => (numbers[name] ?? Infinity) < (present[name] ?? Infinity));
        if (isLess) setTaken(await readTaken({ client }, project, numbers));
        else await store(numbers);
      },
      { failed: 'Nothing was saved.' },
    );
  const confirm = () =>
    saving.run(async () => {
      await store(taken?.numbers ?? {});
      setTaken(undefined);
    });
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
      {looking.error ? <Notice kind="error">{looking.error}</Notice> : null}
      <div>
        <Button kind="primary" type="submit" idle={looking.isBusy}>
          {looking.isBusy ? 'Looking…' : 'Save'}
        </Button>
      </div>
      <Confirm
        title="Delete what is older?"
        action={saving.isBusy ? 'Saving…' : 'Save and delete'}
        open={taken !== undefined}
        onClose={() => setTaken(undefined)}
        idle={saving.isBusy}
        error={saving.error}
        onConfirm={confirm}
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
        What is older is deleted. The deployment may have a retention of its own, the setting{' '}
        <code>retentionDays</code>: the shorter one counts.
      </p>
      <QueryStatus queries={[query]} loading="Loading the retention…" />
      {data && mayChange ? (
        <RetentionForm key={JSON.stringify(data)} project={project} present={data} store={store} />
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
