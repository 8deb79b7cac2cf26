import { Link } from '@tanstack/react-router';
import { type KeyboardEvent, useEffect, useRef, useState } from 'react';
import type { CallRow } from '../../api/calls.ts';
import type { Value } from '../../calls/agreement.ts';
import { StoryView } from '../../calls/trace/story-view.tsx';
import { useTraceState } from '../../calls/trace/trace-state.ts';
import { countedText, countText } from '../../data/format.ts';
import { useAllowed, useRead } from '../../session/session.tsx';
import { Button, Notice, QueryStatus } from '../../ui/controls.tsx';
import { Form } from '../../ui/fields.tsx';
import { type Keys, Shortcuts, useKeys } from '../../ui/keys.tsx';
import { View } from '../../ui/view.tsx';
import { useWork } from '../../ui/work.ts';
import { type QueueState, useQueue, useReviewing } from './data.ts';
import { type Field, findProblem, isFor, labelKeys, type Queue } from './queue.ts';
import { askedText } from './queue-form.tsx';

const keys = [
  [
    '1 2 3 …',
    'choose a label of the selected field, or of the next that has labels; letters follow the digits',
  ],
  ['y n', 'yes or no, in the selected field or the next that asks for it'],
  ['Enter', 'save, and continue with the next call'],
  ['s', 'skip the call'],
  ['u', 'undo: back to the last call, and delete its review'],
  ['j k', 'next, previous field'],
  ['Backspace', 'clear the selected field'],
  ['PageDown PageUp', 'scroll the story'],
  ['Escape', 'leave a text field, so that letters are shortcuts again'],
  ['?', 'these keys'],
] as const;

/** What is filled in: a chosen value, or the text of a number or a text. */
type Draft = ReadonlyMap<string, Value>;

const nothing: Draft = new Map();

/** A filled-in value as it is stored; undefined for nothing. */
const toAnswer = ({ id, question }: Field, draft: Draft): Value | undefined => {
  const value = draft.get(id);
  if (typeof value !== 'string' || question.kind === 'labels') return value;
  const text = value.trim();
  if (text === '') return undefined;
  return question.kind === 'number' ? Number(text) : text;
};

/** The choices of a field, each with its key; none for what one types. */
const listChoices = ({
  question,
}: Field): readonly (readonly [key: string, text: string, value: Value])[] => {
  if (question.kind === 'boolean')
    return [
      ['y', 'Yes', true],
      ['n', 'No', false],
    ];
  if (question.kind !== 'labels') return [];
  return question.labels.map((label, at) => [labelKeys[at] ?? '', label, label]);
};

/** The story of a call's trace. */
const ItemStory = ({ project, call, isAhead }: { project: string; call: CallRow; isAhead: boolean }) => {
  const [selected, setSelected] = useState(call.parent_id ? call.id : undefined);
  const search = { project, trace: call.trace_id, ...(selected !== undefined && { call: selected }) };
  const state = useTraceState(search, setSelected);
  return (
    <div className={isAhead ? 'review-story ahead' : 'review-story'} inert={isAhead}>
      <QueryStatus queries={[state.query]} loading="Loading the trace…" />
      {state.query.data ? (
        <StoryView state={state} project={project} plain={false} onSelect={setSelected} />
      ) : null}
    </div>
  );
};

interface FieldInputProps {
  readonly field: Field;
  readonly at: number;
  readonly marked: boolean;
  readonly draft: Draft;
  readonly problem: string | undefined;
  readonly onChange: (value: Value | undefined) => void;
  readonly onChoose: (value: Value) => void;
  readonly onMark: () => void;
  readonly onTyped: (event: KeyboardEvent) => void;
}

/** A field to fill in. */
const FieldInput = (props: FieldInputProps) => {
  const { field, at, marked, draft, problem, onChange, onChoose, onMark, onTyped } = props;
  const { id, name, description, question } = field;
  const value = draft.get(id);
  const title = (
    <>
      <span dir="auto">{name}</span>{' '}
      {question.kind === 'number' ? <span className="muted">{askedText(field)}</span> : null}
    </>
  );
  const typed = {
    id: `answer-${at}`,
    value: typeof value === 'string' ? value : '',
    onChange: ({ target }: { target: { value: string } }) => onChange(target.value),
    onKeyDown: onTyped,
    'aria-describedby': problem ? `problem-${at}` : undefined,
  };
  const typedField = question.kind === 'number' || question.kind === 'text';
  return (
    <div className={marked ? 'review-field marked' : 'review-field'} data-field={at} onFocusCapture={onMark}>
      {typedField ? (
        <div className="field">
          <label htmlFor={typed.id}>{title}</label>
          {question.kind === 'number' ? (
            <input type="text" inputMode="decimal" autoComplete="off" {...typed} />
          ) : (
            <textarea rows={2} dir="auto" {...typed} />
          )}
        </div>
      ) : (
        <fieldset className="review-choices">
          <legend>{title}</legend>
          {listChoices(field).map(([key, text, choice]) => (
            <Button
              key={text}
              aria-pressed={value === choice}
              aria-keyshortcuts={key || undefined}
              onClick={() => onChoose(choice)}
            >
              {key ? <span className="key">{key}</span> : null} <span dir="auto">{text}</span>
            </Button>
          ))}
        </fieldset>
      )}
      {description ? (
        <p className="hint" dir="auto">
          {description}
        </p>
      ) : null}
      {problem ? (
        <p className="error-text" id={`problem-${at}`} role="alert">
          {name} {problem}.
        </p>
      ) : null}
    </div>
  );
};

/** What was done with a call: reviewed, or skipped if there are no records. */
interface Step {
  readonly call: CallRow;
  readonly records: readonly string[];
  readonly draft: Draft;
}

/** One call after the other: which is next, what is filled in, and what was done. */
const useSteps = (project: string, { queue, fields: all, standing }: QueueState) => {
  const { give, takeBack, look } = useReviewing(project);
  const [past, setPast] = useState<readonly Step[]>([]);
  // What somebody has begun to fill in stays, whatever others do meanwhile.
  const [held, setHeld] = useState<CallRow>();
  const [draft, setDraft] = useState<Draft>(nothing);
  const [problems, setProblems] = useState<ReadonlyMap<string, string>>(new Map());
  const { isBusy: busy, error, run, refuse } = useWork();
  const seen = new Set(past.map(({ call }) => call.id));
  const waiting = standing.open.filter(({ id }) => !seen.has(id));
  const current = held ?? waiting[0];
  const ahead = waiting.find(({ id }) => id !== current?.id);
  const fields = current ? all.filter((field) => isFor(field, current.op_name)) : [];
  // Somebody else may have reviewed it since the queue was read.
  useRead(
    ['look at reviews', project, queue.id, current?.id],
    async ({ signal }) => {
      if (current) await look(current.id, all, signal);
      return null;
    },
    { enabled: current !== undefined, staleTime: 0 },
  );
  const goOn = (step: Step) => {
    setPast((before) => [...before, step]);
    setHeld(undefined);
    setDraft(nothing);
    setProblems(new Map());
    refuse(undefined);
  };
  const runOne = (failed: string, work: () => Promise<void>) => {
    if (!busy) run(work, { failed });
  };
  return {
    current,
    ahead,
    fields,
    draft,
    problems,
    busy,
    error,
    left: waiting.length,
    done: past.filter(({ records }) => records.length > 0).length,
    skipped: past.filter(({ records }) => records.length === 0).length,
    fill: (field: Field, value: Value | undefined) => {
      setHeld(current);
      setDraft((before) => {
        const next = new Map(before);
        if (value === undefined) next.delete(field.id);
        else next.set(field.id, value);
        return next;
      });
      setProblems((before) => new Map([...before].filter(([id]) => id !== field.id)));
    },
    /** @returns the place of the first field that something is wrong with; -1 if all is well */
    save: (): number => {
      if (!current) return -1;
      const answers = fields.flatMap((field): [Field, Value][] => {
        const value = toAnswer(field, draft);
        return value === undefined ? [] : [[field, value]];
      });
      const wrong = new Map(
        answers.flatMap(([field, value]): [string, string][] => {
          const problem = findProblem(field.question, value);
          return problem ? [[field.id, problem]] : [];
        }),
      );
      setProblems(wrong);
      if (wrong.size > 0) return fields.findIndex(({ id }) => wrong.has(id));
      if (answers.length === 0) {
        refuse('Answer at least one field, or skip the call with s.');
        return -1;
      }
      runOne('The review was not saved.', async () => {
        goOn({ call: current, records: await give(current.id, answers), draft });
      });
      return -1;
    },
    skip: () => current && !busy && goOn({ call: current, records: [], draft: nothing }),
    undo: () =>
      runOne('The review was not deleted.', async () => {
        const last = past.at(-1);
        if (!last) return;
        if (last.records.length > 0) await takeBack(last.call.id, last.records);
        setPast((before) => before.slice(0, -1));
        setHeld(last.call);
        setDraft(last.draft);
        setProblems(new Map());
      }),
    mayUndo: past.length > 0,
    seeSkipped: () => setPast((before) => before.filter(({ records }) => records.length > 0)),
  };
};

interface ReviewingProps {
  readonly project: string;
  readonly state: QueueState;
  readonly onLeave: () => void;
}

const Reviewing = ({ project, state, onLeave }: ReviewingProps) => {
  const steps = useSteps(project, state);
  const { current, ahead, fields, draft, done, left, skipped } = steps;
  const [at, setAt] = useState(0);
  const [help, setHelp] = useState(false);
  const main = useRef<HTMLElement>(null);
  const form = useRef<HTMLFormElement>(null);
  const mark = (place: number) => {
    const next = Math.max(0, Math.min(fields.length - 1, place));
    setAt(next);
    const box = form.current?.querySelector<HTMLElement>(`[data-field="${next}"]`);
    box?.scrollIntoView({ block: 'nearest' });
    (box?.querySelector<HTMLElement>('input, textarea') ?? form.current)?.focus({ preventScroll: true });
  };
  const markRef = useRef(mark);
  markRef.current = mark;
  const { id } = current ?? {};
  // Each call begins at its first field.
  useEffect(() => {
    if (id === undefined) main.current?.focus();
    else markRef.current(0);
  }, [id]);
  const choose = (field: Field, place: number) => (value: Value) => {
    steps.fill(field, draft.get(field.id) === value ? undefined : value);
    mark(place + 1);
  };
  const save = () => {
    const wrong = steps.save();
    if (wrong >= 0) mark(wrong);
  };
  const submit = () => {
    save();
  };
  /** What keys do while somebody types. */
  const typed = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    if (event.key === 'Enter' && !event.shiftKey) {
      event.preventDefault();
      save();
    }
    if (event.key === 'Escape') form.current?.focus();
  };
  const scroll = (by: number) => () => {
    const story = main.current?.querySelector('.review-story:not(.ahead) .story-scroll');
    story?.scrollBy({ top: by * story.clientHeight * 0.85 });
  };
  const marked = fields[at];
  const isOpen = (place: number) => {
    const field = fields[place];
    return field !== undefined && !draft.has(field.id);
  };
  // A key is for the marked field. If that has no such choice, it is for one that waits for an answer, or for any.
  const places = [...fields.keys()].sort(
    (one, other) => Number(other === at) - Number(one === at) || Number(isOpen(other)) - Number(isOpen(one)),
  );
  const ofFields: Keys = Object.fromEntries(
    places
      .flatMap((place): [string, () => void][] => {
        const field = fields[place];
        if (!field) return [];
        const give = (value: Value) => {
          if (place === at) return choose(field, place)(value);
          steps.fill(field, value);
          mark(place + 1);
        };
        return listChoices(field).map(([key, , value]) => [key, () => give(value)]);
      })
      // Of two entries with a key, the last one counts.
      .reverse(),
  );
  const ofField: Keys = {
    ...ofFields,
    ...(marked && { Backspace: () => steps.fill(marked, undefined) }),
  };
  useKeys({
    ...ofField,
    Enter: save,
    s: steps.skip,
    u: steps.undo,
    j: () => mark(at + 1),
    k: () => mark(at - 1),
    PageDown: scroll(1),
    PageUp: scroll(-1),
    '?': () => setHelp(true),
  });
  const shown = [current, ahead].filter((call) => call !== undefined);
  return (
    <main className="view fixed review" ref={main} tabIndex={-1}>
      <div className="view-head">
        <h1 dir="auto">{state.queue.name}</h1>
        <div className="view-about">
          <progress aria-label="Reviewed" max={done + left + skipped} value={done} />
          <span role="status">
            {countText(done)} reviewed, {countText(left)} left
            {skipped > 0 ? `, ${countText(skipped)} skipped` : ''}
          </span>
        </div>
        <div className="view-actions">
          <Button kind="quiet" onClick={onLeave}>
            Leave
          </Button>
          <Button onClick={steps.undo} disabled={!steps.mayUndo}>
            Undo
          </Button>
          <Button onClick={steps.skip} disabled={!current}>
            Skip
          </Button>
          <Button kind="quiet" onClick={() => setHelp(true)} aria-label="Keyboard">
            ?
          </Button>
        </div>
      </div>
      {current ? (
        <div className="review-body">
          <div className="review-stories">
            {shown.map((call) => (
              <ItemStory key={call.id} project={project} call={call} isAhead={call !== current} />
            ))}
          </div>
          <Form className="review-form" aria-label="Your review" tabIndex={-1} ref={form} onSubmit={submit}>
            <Link
              to="/trace"
              search={{ project, trace: current.trace_id, ...(current.parent_id && { call: current.id }) }}
            >
              Open the trace
            </Link>
            {fields.map((field, place) => (
              <FieldInput
                key={`${current.id} ${field.id}`}
                field={field}
                at={place}
                marked={place === at}
                draft={draft}
                problem={steps.problems.get(field.id)}
                onChange={(value) => steps.fill(field, value)}
                onChoose={choose(field, place)}
                onMark={() => setAt(place)}
                onTyped={typed}
              />
            ))}
            {steps.error ? <Notice kind="error">{steps.error}</Notice> : null}
            <Button kind="primary" type="submit" idle={steps.busy}>
              {steps.busy ? 'Saving…' : 'Save and continue'}
            </Button>
          </Form>
        </div>
      ) : (
        <Notice kind="info" action={<Button onClick={onLeave}>Back to the queue</Button>}>
          {skipped > 0 ? (
            <>
              Only {countedText(skipped, 'call')} left, which you skipped.{' '}
              <Button onClick={steps.seeSkipped}>Look at {skipped === 1 ? 'it' : 'them'} again</Button>
            </>
          ) : (
            'You have reviewed everything in this queue.'
          )}
        </Notice>
      )}
      {!current && steps.error ? <Notice kind="error">{steps.error}</Notice> : null}
      <Shortcuts open={help} onClose={() => setHelp(false)} keys={keys} />
    </main>
  );
};

interface ReviewViewProps {
  readonly project: string;
  readonly queue: Queue;
  readonly onLeave: () => void;
}

/** Reviews the calls of a queue, one after the other. */
export const ReviewView = ({ project, queue, onLeave }: ReviewViewProps) => {
  const mayWrite = useAllowed(project, 'write');
  const { state, queries } = useQueue(project, queue);
  if (!mayWrite)
    return (
      <Notice kind="error" action={<Button onClick={onLeave}>Back to the queue</Button>}>
        Reviewing takes a key with the role write on {project}, which this one lacks.
      </Notice>
    );
  if (!state)
    return (
      <View title="Reviews">
        <QueryStatus queries={queries} loading="Loading the queue…" />
      </View>
    );
  return <Reviewing project={project} state={state} onLeave={onLeave} />;
};
