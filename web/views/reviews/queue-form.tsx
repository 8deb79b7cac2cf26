import { useState } from 'react';
import {
  chosenCalls,
  everyTrace,
  type KeptFilter,
  toFilter,
  toKept,
} from '../../calls/filters/kept-filter.ts';
import { KeptFilterForm } from '../../calls/filters/kept-filter-form.tsx';
import { usePeople } from '../../calls/people/people.ts';
import { newObjectId } from '../../session/stored.ts';
import { Button, Check, Notice, QueryStatus } from '../../ui/controls.tsx';
import { bindFields, Choice, Form, Input, Picker, Section } from '../../ui/fields.tsx';
import { useWork } from '../../ui/work.ts';
import { useFields, useSaveQueue } from './data.ts';
import { type Field, nameIn, type Queue } from './queue.ts';

const kinds = { boolean: 'yes or no', labels: 'labels', number: 'a number', text: 'a text' } as const;

type Kind = keyof typeof kinds;

/** What is asked, in words. */
export const askedText = ({ question }: Field): string => {
  switch (question.kind) {
    case 'labels':
      return question.labels.join(', ');
    case 'number': {
      const { whole, minimum, maximum } = question;
      const from = minimum === undefined ? '' : ` from ${minimum}`;
      return `${whole ? 'a whole number' : 'a number'}${from}${maximum === undefined ? '' : ` to ${maximum}`}`;
    }
    default:
      return kinds[question.kind];
  }
};

const kindOptions = Object.entries(kinds) as [Kind, string][];

/** A field as somebody types it. */
interface FieldDraft {
  readonly name: string;
  readonly description: string;
  readonly kind: Kind;
  readonly labels: readonly string[];
  readonly least: string;
  readonly largest: string;
}

const emptyField: FieldDraft = {
  name: '',
  description: '',
  kind: 'boolean',
  labels: [],
  least: '',
  largest: '',
};

const toSchema = ({ kind, labels, least, largest }: FieldDraft) => {
  const bounds = {
    ...(least !== '' && { minimum: Number(least) }),
    ...(largest !== '' && { maximum: Number(largest) }),
  };
  switch (kind) {
    case 'boolean':
      return { type: 'boolean' };
    case 'labels':
      return { type: 'string', enum: labels };
    case 'number':
      return { type: 'number', ...bounds };
    case 'text':
      return { type: 'string' };
  }
};

interface FieldFormProps {
  readonly project: string;
  readonly taken: readonly string[];
  readonly onMade: (ref: string) => void;
}

/** Makes something to fill in. */
const FieldForm = ({ project, taken, onMade }: FieldFormProps) => {
  const { saveField } = useSaveQueue(project);
  const [draft, setDraft] = useState(emptyField);
  const change = (changes: Partial<FieldDraft>) => setDraft((before) => ({ ...before, ...changes }));
  const field = bindFields(draft, change);
  const { kind } = draft;
  const { isBusy: saving, error, run, refuse } = useWork();
  const id = draft.name.trim();
  const store = async () => {
    onMade(await saveField({ id, description: draft.description.trim(), schema: toSchema(draft) }));
    change({ name: '', description: '', labels: [] });
  };
  const make = () => {
    if (taken.includes(id)) return refuse(`A field ${id} already exists.`);
    if (kind === 'labels' && draft.labels.length < 2) return refuse('Give at least two labels.');
    run(store, { failed: 'The field was not created.' });
  };
  return (
    <fieldset
      className="new-field"
      onKeyDown={(event) => {
        if (event.key !== 'Enter' || !(event.target instanceof HTMLInputElement)) return;
        // It would save the queue.
        event.preventDefault();
        if (id !== '') make();
      }}
    >
      <legend>New field</legend>
      <Input
        label="Name of the field"
        maxLength={100}
        pattern="[^\/:]*"
        title="up to 100 characters without / and :"
        {...field('name')}
      />
      <Choice label="Answer type" options={kindOptions} {...field('kind')} />
      {kind === 'labels' ? (
        <Picker
          label="Labels"
          hint="Press Enter after each."
          values={draft.labels}
          onChange={(labels) => change({ labels })}
        />
      ) : null}
      {kind === 'number' ? (
        <>
          <Input label="Minimum" type="number" {...field('least')} />
          <Input label="Maximum" type="number" {...field('largest')} />
        </>
      ) : null}
      <Input
        className="field whole"
        label="Instructions for reviewers"
        spellCheck
        {...field('description')}
      />
      {error ? <Notice kind="error">{error}</Notice> : null}
      <Button disabled={saving || id === ''} onClick={make}>
        {saving ? 'Creating…' : 'Create field'}
      </Button>
    </fieldset>
  );
};

interface QueueFormProps {
  readonly project: string;
  /** @default - a new one */
  readonly queue?: Queue;
  /** The calls that a new one is of. @default - those that its filter will match */
  readonly calls?: readonly string[];
  readonly onSaved: (id: string) => void;
  readonly onCancel: () => void;
}

/** Makes or changes a queue. */
export const QueueForm = ({ project, queue, calls = [], onSaved, onCancel }: QueueFormProps) => {
  const known = useFields(project);
  const users = usePeople(project);
  const { saveQueue } = useSaveQueue(project);
  const [name, setName] = useState(queue?.name ?? '');
  const [filter, setFilter] = useState<KeptFilter>(() =>
    queue ? toFilter(queue) : calls.length > 0 ? chosenCalls(calls) : everyTrace,
  );
  const [chosen, setChosen] = useState<readonly string[]>(queue?.fields ?? []);
  const [reviews, setReviews] = useState(String(queue?.reviews ?? 1));
  const [people, setPeople] = useState<readonly string[]>(queue?.assignees ?? []);
  const { isBusy: saving, error, run, refuse } = useWork();
  const isChosen = ({ id }: Field) => chosen.some((ref) => nameIn(ref) === id);
  const choose = (field: Field, checked: boolean) =>
    setChosen((before) => [
      ...before.filter((ref) => nameIn(ref) !== field.id),
      ...(checked ? [field.ref] : []),
    ]);
  const store = async () => {
    const there = chosen.filter((ref) => !known.data || known.data.some(({ id }) => id === nameIn(ref)));
    const id = queue?.id ?? newObjectId('review-queue');
    const { filter: kept, query } = toKept(filter);
    await saveQueue({
      id,
      name: name.trim(),
      fields: there,
      reviews: Number(reviews),
      filter: kept,
      query,
      assignees: people.length > 0 ? people : undefined,
    });
    onSaved(id);
  };
  const submit = () => {
    if (chosen.length === 0) return refuse('Choose a field, or create one.');
    run(store, { failed: 'Nothing was saved.' });
  };
  return (
    <Form className="stack queue-form" aria-label={queue ? 'Edit the queue' : 'New queue'} onSubmit={submit}>
      <h2>{queue ? `Edit ${queue.name}` : 'New queue'}</h2>
      <Section title="What is reviewed">
        <Input
          label="Name"
          spellCheck
          required
          maxLength={128}
          pattern="[^\[\]]+"
          title="up to 128 characters without brackets"
          value={name}
          onChange={setName}
        />
        <KeptFilterForm project={project} filter={filter} onChange={setFilter} />
      </Section>
      <Section title="What reviewers fill in">
        <fieldset className="plain-set">
          <legend className="hidden">Fields</legend>
          <QueryStatus queries={[known]} loading="Loading fields…" />
          {known.data?.map((field) => (
            <Check
              key={field.id}
              label={`${field.name} (${askedText(field)})`}
              checked={isChosen(field)}
              onChange={(checked) => choose(field, checked)}
            />
          ))}
          {known.data?.length === 0 ? (
            <span className="muted">There are no fields yet. Create one below.</span>
          ) : null}
        </fieldset>
        <FieldForm
          project={project}
          taken={(known.data ?? []).map(({ id }) => id)}
          onMade={(ref) => setChosen((before) => [...before, ref])}
        />
      </Section>
      <Section title="Who reviews">
        <div className="new-field">
          <Input
            label="Reviews per call"
            type="number"
            step={1}
            required
            min={1}
            max={100}
            value={reviews}
            onChange={setReviews}
          />
          <Picker
            className="field whole"
            label="Reviewers"
            hint="Leave it empty for everybody."
            suggestions={users}
            values={people}
            onChange={setPeople}
          />
        </div>
      </Section>
      {error ? <Notice kind="error">{error}</Notice> : null}
      <div className="row-end">
        <Button onClick={onCancel}>Cancel</Button>
        <Button kind="primary" type="submit" disabled={saving}>
          {saving ? 'Saving…' : 'Save the queue'}
        </Button>
      </div>
    </Form>
  );
};
