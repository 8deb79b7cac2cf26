import { useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { ArrowUp, X } from 'lucide-react';
import { useId, useMemo, useState } from 'react';
import { useModels } from '../../calls/figures/used.ts';
import { toVersion } from '../../calls/prompts/prompt.ts';
import { useKept } from '../../session/kept.ts';
import { Person, useSession } from '../../session/session.tsx';
import { Button, IconButton, Notice } from '../../ui/controls.tsx';
import { bindFields, Form, Input, Section, Segments, TextArea } from '../../ui/fields.tsx';
import { Select } from '../../ui/popups.tsx';
import { useWork } from '../../ui/work.ts';
import { isOfPrompts, type PromptRow, useChangePrompt } from './data.ts';
import {
  type Draft,
  type DraftMessage,
  doubledNames,
  draftMessage,
  isChanged,
  readDraft,
  toDraft,
  variablesOfDraft,
} from './draft.ts';
import { TemplateArea } from './template.tsx';

interface PartProps {
  readonly draft: Draft;
  readonly onChange: (change: Partial<Draft>) => void;
}

const roles = ['system', 'developer', 'user', 'assistant', 'tool'] as const;

interface MessageProps {
  readonly message: DraftMessage;
  /** From 1. */
  readonly number: number;
  readonly onChange: (change: Partial<DraftMessage>) => void;
  /** @default - it is the only one */
  readonly onRemove: (() => void) | undefined;
  /** @default - it is the first */
  readonly onUp: (() => void) | undefined;
}

/** A message with its role and its text, or as JSON if it has more than these. */
const Message = ({ message: { role, text, json }, number, onChange, onRemove, onUp }: MessageProps) => {
  const isKnown = roles.some((known) => known === role);
  return (
    <div className={`message ${role}`} role="group" aria-label={`Message ${number}`}>
      <div className="row-between">
        {json === undefined ? (
          <Select
            fit
            label={`Role of message ${number}`}
            value={role}
            options={isKnown ? roles : [role, ...roles]}
            onChange={(next) => onChange({ role: next })}
          />
        ) : (
          <span className="message-head">{role || 'message'} with more than a text, as JSON</span>
        )}
        <span className="row-end">
          {onUp ? <IconButton icon={ArrowUp} name={`Move message ${number} up`} onClick={onUp} /> : null}
          {onRemove ? <IconButton icon={X} name={`Remove message ${number}`} onClick={onRemove} /> : null}
        </span>
      </div>
      {json === undefined ? (
        <TemplateArea
          aria-label={`Text of message ${number}`}
          value={text}
          rows={2}
          onChange={(next) => onChange({ text: next })}
        />
      ) : (
        <textarea
          className="mono"
          aria-label={`JSON of message ${number}`}
          spellCheck={false}
          value={json}
          onChange={({ target }) => onChange({ json: target.value })}
        />
      )}
    </div>
  );
};

const Messages = ({ draft: { messages }, onChange }: PartProps) => {
  const set = (next: readonly DraftMessage[]) => onChange({ messages: next });
  const swap = (at: number) =>
    set(
      messages.map(
        (each, place) => (place === at ? messages[at - 1] : place === at - 1 ? messages[at] : each) ?? each,
      ),
    );
  return (
    <>
      {messages.map((message, at) => (
        <Message
          key={message.key}
          message={message}
          number={at + 1}
          onChange={(change) =>
            set(messages.map((each) => (each.key === message.key ? { ...each, ...change } : each)))
          }
          onRemove={
            messages.length > 1 ? () => set(messages.filter(({ key }) => key !== message.key)) : undefined
          }
          onUp={at > 0 ? () => swap(at) : undefined}
        />
      ))}
      <div>
        <Button
          onClick={() =>
            set([...messages, draftMessage(messages.at(-1)?.role === 'user' ? 'assistant' : 'user')])
          }
        >
          Add message
        </Button>
      </div>
    </>
  );
};

const shapes = [
  ['messages', 'Messages'],
  ['text', 'Text'],
] as const;

/** Names the variables, and what looks like one and is none. */
const Variables = ({ draft, names }: { draft: Draft; names: readonly string[] }) => {
  const texts = draft.kind === 'text' ? [draft.text] : draft.messages.map(({ text, json }) => json ?? text);
  const doubled = [...new Set(texts.flatMap((text) => doubledNames(text)))];
  return (
    <div className="stack" role="status">
      <p className="prompt-labels">
        {names.length === 0 ? (
          <span className="hint">
            No variables. Write <code>{'{name}'}</code> where a program puts a value.
          </span>
        ) : (
          <>
            <span className="hint">Variables:</span>
            {names.map((name) => (
              <mark key={name} className="variable">
                {name}
              </mark>
            ))}
          </>
        )}
      </p>
      {doubled.length > 0 ? (
        <p className="hint">
          <code>{`{{${doubled[0]}}}`}</code> is the text <code>{`{${doubled[0]}}`}</code> here. A variable has
          one brace: <code>{`{${doubled[0]}}`}</code>.
        </p>
      ) : null}
    </div>
  );
};

/** Switches between messages and one text, and takes along what was written. */
const toKind = (draft: Draft, kind: Draft['kind']): Partial<Draft> => {
  if (kind === draft.kind) return {};
  if (kind === 'text' && draft.text === '')
    return {
      kind,
      text: draft.messages
        .map(({ text }) => text)
        .filter((text) => text !== '')
        .join('\n\n'),
    };
  const isEmpty = draft.messages.every(({ text, json }) => text === '' && json === undefined);
  return kind === 'messages' && isEmpty ? { kind, messages: [draftMessage('user', draft.text)] } : { kind };
};

/** Everything that a version says. */
const Fields = ({
  project,
  draft,
  onChange,
  names,
}: PartProps & { project: string; names: readonly string[] }) => {
  const field = bindFields(draft, onChange);
  const models = useModels(project);
  const textId = useId();
  return (
    <>
      <Section title="What it says">
        <Segments
          fit
          legend="Shape"
          value={draft.kind}
          options={shapes}
          onChange={(kind) => onChange(toKind(draft, kind))}
        />
        {draft.kind === 'text' ? (
          <div className="field">
            <label htmlFor={textId}>Text</label>
            <TemplateArea id={textId} rows={6} {...field('text')} />
          </div>
        ) : (
          <Messages draft={draft} onChange={onChange} />
        )}
        <Variables draft={draft} names={names} />
      </Section>
      <Section
        title="What goes with it"
        hint="Programs get this beside the text. The playground begins with it."
      >
        <Input
          label="Model"
          placeholder={models[0] ?? 'gpt-4o-mini'}
          suggestions={models}
          {...field('model')}
        />
        <TextArea
          mono
          label="Parameters, as JSON"
          placeholder={'{"temperature": 0}'}
          rows={2}
          {...field('parameters')}
        />
        <details open={draft.tools + draft.schema + draft.others !== ''}>
          <summary>Tools, response schema and other settings</summary>
          <div className="stack">
            <TextArea mono label="Tools, as a JSON list" rows={2} {...field('tools')} />
            <TextArea mono label="Response schema, as JSON" rows={2} {...field('schema')} />
            <TextArea mono label="Other settings, as JSON" rows={2} {...field('others')} />
          </div>
        </details>
      </Section>
    </>
  );
};

/** What was found when a draft was to be saved: somebody else had saved a version. */
interface Between {
  readonly version: number;
  readonly by: string;
}

/** Saves a draft, unless somebody else saved a version since it was begun. */
const useSave = (project: string, onSaved: () => void) => {
  const { client } = useSession();
  const { save } = useChangePrompt(project);
  const cache = useQueryClient();
  const navigate = useNavigate();
  const work = useWork();
  const [between, setBetween] = useState<Between>();
  const run = (name: string, draft: Draft, known: number, anyway = false) => {
    const read = readDraft(draft);
    if ('problem' in read) return work.refuse(read.problem);
    return work.run(
      async () => {
        const { prompts } = await client.ask('/prompts/query', { project_id: project, name });
        const newest: PromptRow | undefined = prompts[0];
        if (newest && draft.newest < 0)
          throw new Error(`A prompt ${name} already exists. Choose another name.`);
        if (newest && newest.version_index > draft.newest && !anyway) {
          setBetween({ version: newest.version_index, by: newest.svc_user_id });
          cache.invalidateQueries({ predicate: isOfPrompts });
          return;
        }
        const { version_index } = await save.mutateAsync(toVersion(project, name, read.content, read.config));
        onSaved();
        await navigate({
          to: '/prompts',
          search: {
            project,
            prompt: name,
            ...(version_index <= known && { version: `v${version_index}` }),
          },
        });
      },
      { as: 'saving' },
    );
  };
  return { ...work, run, between, isSaving: work.doing !== undefined };
};

interface EditorProps {
  readonly project: string;
  readonly name: string;
  /** The version that the new one is made of. */
  readonly value: unknown;
  readonly index: number;
  /** The number of the newest version. */
  readonly newest: number;
}

/** Makes a version of another one. A draft is kept for whoever comes back. */
export const PromptEditor = ({ project, name, value, index, newest }: EditorProps) => {
  const [first] = useState(() => toDraft(value, newest));
  const [kept, keep] = useKept('kept prompt', `${project}\n${name}\n${index}`, first);
  const changed = isChanged(kept, first);
  // What nobody changed is of now, whenever it was begun.
  const draft = changed ? kept : first;
  const change = (changes: Partial<Draft>) => keep({ ...draft, ...changes });
  const read = useMemo(() => readDraft(draft), [draft]);
  const { run, error, isSaving, between } = useSave(project, () => keep(first));
  const names = variablesOfDraft(read);
  return (
    <Form
      className="stack prompt-form"
      aria-label={`New version of ${name}`}
      onSubmit={() => changed && run(name, draft, newest)}
    >
      <Fields project={project} draft={draft} onChange={change} names={names} />
      {error ? <Notice kind="error">{error}</Notice> : null}
      {between ? (
        <Notice
          kind="error"
          action={
            <span className="row-end wrap">
              <Link
                to="/prompts"
                search={{ project, prompt: name, version: `v${between.version}`, base: `v${index}` }}
                className="button plain"
              >
                See what v{between.version} changed
              </Link>
              <Button onClick={() => run(name, { ...draft, newest: between.version }, newest, true)}>
                Save anyway
              </Button>
            </span>
          }
        >
          <Person user={between.by} /> saved v{between.version} while you wrote. Yours does not have what is
          new in it.
        </Notice>
      ) : null}
      <div className="send">
        <Button type="submit" kind="primary" idle={!changed || isSaving}>
          {isSaving ? 'Saving…' : 'Save version'}
        </Button>
        <Link
          to="/prompts"
          search={{ project, prompt: name, ...(index !== newest && { version: `v${index}` }) }}
          className="button quiet"
        >
          {changed ? 'Back, and keep the draft' : 'Back'}
        </Link>
        {changed ? (
          <Button kind="quiet" onClick={() => keep(toDraft(value, newest))}>
            Start over
          </Button>
        ) : (
          <span className="hint">Nothing is changed yet.</span>
        )}
      </div>
    </Form>
  );
};

/** Makes a prompt. */
export const NewPrompt = ({ project, taken }: { project: string; taken: readonly string[] }) => {
  const [first] = useState(() => toDraft(undefined, -1));
  const [draft, keep] = useKept('kept prompt', `${project}\n`, first);
  const [name, setName] = useKept('kept prompt name', project, '');
  const read = useMemo(() => readDraft(draft), [draft]);
  const { run, error, refuse, isSaving } = useSave(project, () => {
    keep(toDraft(undefined, -1));
    setName('');
  });
  const save = () => {
    const wanted = name.trim();
    if (wanted === '') return refuse('The prompt needs a name.');
    return taken.includes(wanted)
      ? refuse(`A prompt ${wanted} already exists. Choose another name.`)
      : run(wanted, draft, -1);
  };
  return (
    <Form className="stack prompt-form" aria-label="New prompt" onSubmit={save}>
      <Section title="Name">
        <Input
          label="Name"
          placeholder="support"
          hint="Programs read it by this name, in which neither / nor : stands."
          value={name}
          onChange={setName}
        />
      </Section>
      <Fields
        project={project}
        draft={draft}
        onChange={(changes) => keep({ ...draft, ...changes })}
        names={variablesOfDraft(read)}
      />
      {error ? <Notice kind="error">{error}</Notice> : null}
      <div className="send">
        <Button type="submit" kind="primary" idle={isSaving}>
          {isSaving ? 'Saving…' : 'Save prompt'}
        </Button>
        <Link to="/prompts" search={{ project }} className="button quiet">
          Cancel
        </Link>
      </div>
    </Form>
  );
};
