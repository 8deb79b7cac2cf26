import { useNavigate } from '@tanstack/react-router';
import { X } from 'lucide-react';
import { useRef, useState } from 'react';
import { CallLink } from '../../calls/call-link.tsx';
import type { Evaluator } from '../../calls/evaluators.ts';
import { useModels } from '../../calls/figures/used.ts';
import { KeptFilterForm } from '../../calls/filters/kept-filter-form.tsx';
import { costText } from '../../data/format.ts';
import type { EvaluatorsSearch } from '../../navigation/search.ts';
import { useKept } from '../../session/kept.ts';
import { useAllowed, useSession } from '../../session/session.tsx';
import { Button, Notice, ScrollTable, type TableColumn } from '../../ui/controls.tsx';
import { bindFields, Choice, Input, Picker, Section, Segments, TextArea } from '../../ui/fields.tsx';
import { Select } from '../../ui/popups.tsx';
import { useWork } from '../../ui/work.ts';
import { isTaken, type TriedCall, triedCalls, tryEvaluator, useStoreEvaluator } from './data.ts';
import {
  type CheckName,
  checkNames,
  checks,
  type Draft,
  type DraftMessage,
  draftFrom,
  evaluatorValue,
  toDraft,
  toObjectId,
} from './evaluator.ts';
import { valueText } from './verdicts.ts';

interface PartProps {
  readonly draft: Draft;
  readonly onChange: (change: Partial<Draft>) => void;
}

/** What is inserted into a message by a click, and the part of it that is to be typed over. */
const placeholders: readonly (readonly [text: string, typed: string])[] = [
  ['{{conversation}}', ''],
  ['{{inputs}}', ''],
  ['{{inputs.path}}', 'path'],
  ['{{output}}', ''],
  ['{{output.path}}', 'path'],
  ['{{attributes.path}}', 'path'],
  ['{{expected}}', ''],
];

const roles = ['system', 'developer', 'user', 'assistant'] as const;

/** The messages that a judge is asked with. Placeholders go where the caret is, or was last. */
const Messages = ({ draft: { messages }, onChange }: PartProps) => {
  const areas = useRef(new Map<number, HTMLTextAreaElement>());
  const last = useRef<number>(undefined);
  const set = (next: readonly DraftMessage[]) => onChange({ messages: next });
  const edit = (number: number, change: Partial<DraftMessage>) =>
    set(messages.map((message) => (message.number === number ? { ...message, ...change } : message)));
  const insert = (text: string, typed: string) => {
    const message = messages.find(({ number }) => number === last.current) ?? messages.at(-1);
    const area = message && areas.current.get(message.number);
    if (!message || !area) return;
    const { selectionStart: from, selectionEnd: to } = area;
    edit(message.number, { content: message.content.slice(0, from) + text + message.content.slice(to) });
    // Once the text is there.
    requestAnimationFrame(() => {
      area.focus();
      const begin = typed === '' ? from + text.length : from + text.indexOf(typed);
      area.setSelectionRange(begin, begin + typed.length);
    });
  };
  const add = () => {
    const number = Math.max(0, ...messages.map((message) => message.number)) + 1;
    set([...messages, { number, role: 'user', content: '' }]);
  };
  return (
    <fieldset className="judge-messages">
      <legend>Prompt</legend>
      {messages.map(({ number, role, content }, at) => (
        <div key={number} className="message">
          <div className="message-head">
            <Select
              fit
              label={`Role of message ${at + 1}`}
              value={role}
              options={roles}
              onChange={(next) => edit(number, { role: next })}
            />
            {messages.length > 1 ? (
              <Button
                kind="quiet"
                aria-label={`Remove message ${at + 1}`}
                onClick={() => set(messages.filter((message) => message.number !== number))}
              >
                <X />
              </Button>
            ) : null}
          </div>
          <textarea
            aria-label={`Text of message ${at + 1}`}
            ref={(area) => {
              if (area) areas.current.set(number, area);
              else areas.current.delete(number);
            }}
            value={content}
            rows={3}
            dir="auto"
            onFocus={() => {
              last.current = number;
            }}
            onChange={({ target }) => edit(number, { content: target.value })}
          />
        </div>
      ))}
      <div className="placeholders">
        <span className="hint">Insert a placeholder:</span>
        {placeholders.map(([text, typed]) => (
          <Button key={text} kind="quiet" className="mono" onClick={() => insert(text, typed)}>
            {text}
          </Button>
        ))}
      </div>
      <div>
        <Button onClick={add}>Add message</Button>
      </div>
    </fieldset>
  );
};

const answers: readonly (readonly [Draft['answer'], string])[] = [
  ['boolean', 'true or false'],
  ['number', 'a number'],
  ['label', 'one of some labels'],
];

const subjects: readonly (readonly [Draft['on'], string])[] = [
  ['call', 'each call when it ends'],
  ['trace', 'each trace when its root ends'],
];

const JudgeFields = ({ project, ...props }: PartProps & { readonly project: string }) => {
  const { draft, onChange } = props;
  const models = useModels(project);
  const field = bindFields(draft, onChange);
  return (
    <>
      <div className="evaluator-fields">
        <Input
          label="Model"
          suggestions={models}
          placeholder={models[0] ?? 'gpt-4o-mini'}
          {...field('model')}
        />
        <Choice label="Answer type" options={answers} {...field('answer')} />
        {draft.answer === 'number' ? (
          <>
            <Input label="From" type="number" {...field('minimum')} />
            <Input label="To" type="number" {...field('maximum')} />
          </>
        ) : null}
        <Input label="Daily budget, in USD (UTC)" type="number" {...field('limit')} />
      </div>
      {draft.answer === 'label' ? (
        <Picker
          label="Labels"
          hint="Press Enter after each."
          commas={false}
          values={draft.labels}
          onChange={(labels) => onChange({ labels })}
        />
      ) : null}
      <Messages {...props} />
      <details>
        <summary>Parameters of the request</summary>
        <TextArea
          mono
          label={
            <>
              As JSON, such as <code>{'{"temperature": 0, "max_completion_tokens": 300}'}</code>
            </>
          }
          {...field('parameters')}
        />
      </details>
    </>
  );
};

const checkPlaceholders: Partial<Record<CheckName, string>> = {
  contains: 'order number',
  regex: '^\\d{4}$',
};

const CheckFields = ({ draft: { check, checked }, onChange }: PartProps) => {
  const isNumber = check.startsWith('max_');
  return (
    <div className="evaluator-fields">
      <Choice
        label="True if"
        value={check}
        options={checkNames.map((name) => [name, checks[name]] as const)}
        onChange={(next) => onChange({ check: next, checked: '' })}
      />
      {check === 'json_schema' ? (
        <TextArea mono label="JSON Schema" value={checked} onChange={(next) => onChange({ checked: next })} />
      ) : (
        <Input
          label={check === 'regex' ? 'Regular expression (RE2)' : isNumber ? 'Limit' : 'Text'}
          type={isNumber ? 'number' : 'text'}
          placeholder={checkPlaceholders[check] ?? ''}
          value={checked}
          onChange={(next) => onChange({ checked: next })}
        />
      )}
    </div>
  );
};

const triedColumns: readonly TableColumn<TriedCall>[] = [
  { title: 'Call', className: 'break', cell: ({ call }) => <CallLink call={call} /> },
  {
    title: 'Verdict',
    cell: ({ verdict }) => <strong>{valueText(verdict.value)}</strong>,
  },
  { title: 'Reason', className: 'break', cell: ({ verdict }) => verdict.error ?? verdict.reason ?? '' },
  {
    title: 'Cost',
    className: 'numeric',
    cell: ({ verdict: { usd } }) => (usd === null ? 'unknown' : costText(usd)),
  },
];

/** What a trial said. */
const Tried = ({ tried }: { tried: readonly TriedCall[] }) => {
  if (tried.length === 0)
    return <Notice kind="info">No call matches yet, so there is nothing to test with.</Notice>;
  const usd = tried.reduce((sum, { verdict }) => sum + (verdict.usd ?? 0), 0);
  return (
    <section className="stack" aria-label="Trial results">
      <p role="status">
        Tested on the latest {tried.length} matching calls, for {costText(usd)}. No verdict was stored.
      </p>
      <ScrollTable
        label="Verdicts of the trial"
        columns={triedColumns}
        rows={tried}
        getKey={({ call }) => call.id}
      />
    </section>
  );
};

const kinds = [
  ['judge', 'LLM judge'],
  ['check', 'Check'],
] as const;

/** What the form does, with what came of it. */
const useForm = (project: string, draft: Draft, evaluator: Evaluator | undefined, onDone: () => void) => {
  const { client } = useSession();
  const { save } = useStoreEvaluator(project);
  const navigate = useNavigate();
  const { doing, error, run } = useWork();
  const [tried, setTried] = useState<readonly TriedCall[]>();
  const tryIt = () =>
    run(
      async ({ signal }) => {
        const value = evaluatorValue(draft, false);
        // What it is called does not matter yet.
        const named = value.name === '' ? { ...value, name: 'trial' } : value;
        setTried(await tryEvaluator({ client, signal }, project, named));
      },
      { as: 'trying' },
    );
  const store = (enabled: boolean) =>
    run(
      async () => {
        const value = evaluatorValue(draft, enabled);
        if (value.name === '') throw new Error('The evaluator needs a name.');
        const id = evaluator?.id ?? toObjectId(value.name);
        if (!evaluator && (await isTaken({ client }, project, id)))
          throw new Error(`An object ${id} already exists. Choose another name.`);
        await save.mutateAsync({ id, value });
        onDone();
        await navigate({ to: '/evaluators', search: { project, evaluator: id } });
      },
      { as: 'saving' },
    );
  return { doing, error, tried, tryIt, store };
};

interface EvaluatorFormProps {
  readonly project: string;
  /** The one that is edited. @default - a new one is made */
  readonly evaluator: Evaluator | undefined;
  /** What a new one begins with. */
  readonly search: EvaluatorsSearch;
  /** Whether the service judges; undefined while nobody knows. */
  readonly isOn: boolean | undefined;
}

/** An evaluator to make or to change, which can be tried before it is stored. */
export const EvaluatorForm = ({ project, evaluator, search, isOn }: EvaluatorFormProps) => {
  const mayJudge = useAllowed(project, 'admin');
  const first = evaluator ? toDraft(evaluator.value) : draftFrom(search, mayJudge ? 'judge' : 'check');
  // Whoever looks at a call that it was tried on finds the draft again.
  const [draft, keep] = useKept(
    'kept evaluator',
    `${project}\n${evaluator?.digest ?? JSON.stringify(search.watch ?? '')}`,
    first,
  );
  const change = (changes: Partial<Draft>) => keep({ ...draft, ...changes });
  const { doing, error, tried, tryIt, store } = useForm(project, draft, evaluator, () => keep(first));
  const allowed = draft.kind === 'check' || mayJudge;
  const field = bindFields(draft, change);
  const busy = doing !== undefined;
  return (
    <section className="stack evaluator-form" aria-label={evaluator ? 'Edit the evaluator' : 'New evaluator'}>
      <Section title="What it looks at">
        <div className="evaluator-fields">
          {evaluator ? (
            <p className="field">
              <span>Name</span>
              <strong dir="auto">{draft.name}</strong>
            </p>
          ) : (
            <Input label="Name" placeholder="helpful" {...field('name')} />
          )}
          <Choice label="Evaluates" options={subjects} {...field('on')} />
          <Input label="Sample rate, in %" type="number" {...field('sample')} />
        </div>
        <KeptFilterForm
          project={project}
          filter={draft.filter}
          byFeedback={false}
          onChange={(filter) => change({ filter })}
        />
      </Section>
      <Section title="How it judges">
        <Segments fit legend="Type" options={kinds} {...field('kind')} />
        {allowed ? null : (
          <Notice kind="error">
            A judge spends money, so you need the role admin on {project} to try or save it. This key does not
            have it. <code>npm run keys</code> makes one with <code>--grant {project}:admin</code>. A check
            needs only the role write.
          </Notice>
        )}
        {draft.kind === 'judge' ? (
          <JudgeFields project={project} draft={draft} onChange={change} />
        ) : (
          <CheckFields draft={draft} onChange={change} />
        )}
      </Section>
      {error ? <Notice kind="error">{error}</Notice> : null}
      <div className="send wrap">
        <Button disabled={!allowed || isOn === false} idle={busy} onClick={tryIt}>
          {doing === 'trying' ? 'Trying…' : `Try on ${triedCalls} recent calls`}
        </Button>
        <span className="spring" />
        <Button disabled={!allowed} idle={busy} onClick={() => store(evaluator?.value.enabled ?? false)}>
          Save
        </Button>
        {evaluator?.value.enabled ? null : (
          <Button kind="primary" disabled={!allowed} idle={busy} onClick={() => store(true)}>
            Save and turn on
          </Button>
        )}
      </div>
      {tried ? <Tried tried={tried} /> : null}
    </section>
  );
};
