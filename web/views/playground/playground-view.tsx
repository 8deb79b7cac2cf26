import { useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { X } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { useStore } from 'zustand';
import type { Call } from '../../api/contract.ts';
import { useCall } from '../../calls/data.ts';
import { useModels } from '../../calls/figures/used.ts';
import { useKeeper, useKeptStore } from '../../session/kept.ts';
import { allows, readAgain, useAllowed, useRead, useSession } from '../../session/session.tsx';
import { byObject, ofClass, readObjects } from '../../session/stored.ts';
import { Button, Notice, QueryStatus } from '../../ui/controls.tsx';
import { Form, Input, TextArea } from '../../ui/fields.tsx';
import { Menu, Popup, Select } from '../../ui/popups.tsx';
import { getImage } from '../../ui/text.tsx';
import { View } from '../../ui/view.tsx';
import { useWork } from '../../ui/work.ts';
import { AnswerPane } from './answer-pane.tsx';
import { type Draft, type DraftMessage, draftMessage } from './draft.ts';
import { ParametersForm } from './parameters-form.tsx';
import {
  draftOfPrompt,
  type PromptDraft,
  type PromptVersion,
  type StoredPrompt,
  seedDraft,
  toPrompt,
} from './prompt.ts';
import { isBusy, type Trial, type TrialState } from './trial.ts';
import { maxVariants, Trials } from './trials.ts';
import { VariablesForm } from './variables-form.tsx';

/** The most prompts that are offered. */
const maxPrompts = 500;

/** What a playground begins with: a recorded call, a prompt, or nothing. */
interface Seed {
  readonly original: Call | undefined;
  readonly prompt: PromptVersion | undefined;
  /** That version as it is stored; undefined if there is none. */
  readonly stored: StoredPrompt | undefined;
  readonly draft: Draft;
  /** The `config` of the prompt. */
  readonly config: PromptDraft['config'];
}

/** What tells the trials of one seed from those of another. */
const seedKey = (project: string, { original, prompt }: Pick<Seed, 'original' | 'prompt'>) =>
  ['trials', project, original?.id ?? null, prompt?.prompt ?? null, prompt?.version ?? null] as const;

/** The trials of a seed, kept or begun anew. What is on its way stops when one leaves. */
const useTrials = (project: string, seed: Seed) => {
  const { client } = useSession();
  const make = () => new Trials(client, project, seed.draft);
  const { kept, state } = useKeptStore(seedKey(project, seed), make);
  useEffect(() => kept.stop, [kept]);
  return { kept, trials: state.trials };
};

interface MessageEditorProps {
  readonly message: DraftMessage;
  /** From 1. */
  readonly number: number;
  readonly onChange: (message: DraftMessage) => void;
  readonly onRemove: () => void;
}

const roles = ['system', 'developer', 'user', 'assistant', 'tool'] as const;

const Images = ({ message, onChange }: Pick<MessageEditorProps, 'message' | 'onChange'>) =>
  message.images.map((url, at) => {
    const own = getImage(url);
    return (
      <div key={url.slice(0, 100)} className="row-between">
        {own ? (
          <img className="image small" src={own} alt="In the message" />
        ) : (
          <span className="muted break">Image: {url.slice(0, 300)}</span>
        )}
        <Button
          kind="quiet"
          onClick={() => onChange({ ...message, images: message.images.filter((_, index) => index !== at) })}
        >
          Remove image
        </Button>
      </div>
    );
  });

/** A message of the request, with its role and its text. */
const MessageEditor = ({ message, number, onChange, onRemove }: MessageEditorProps) => {
  const { role, text, extra } = message;
  const known = roles.some((name) => name === role);
  return (
    <div className={`message ${role}`} role="group" aria-label={`Message ${number}`}>
      <div className="row-between">
        <Select
          fit
          label={`Role of message ${number}`}
          value={role}
          options={known ? roles : [role, ...roles]}
          onChange={(next) => onChange({ ...message, role: next })}
        />
        <Button
          kind="quiet"
          className="icon"
          aria-label={`Remove message ${number}`}
          onClick={({ currentTarget }) => {
            // This button goes away. The next is that of another message, or adds a message.
            currentTarget
              .closest('.message')
              ?.nextElementSibling?.querySelector<HTMLElement>('button:not([role=combobox])')
              ?.focus();
            onRemove();
          }}
        >
          <X />
        </Button>
      </div>
      <textarea
        aria-label={`Text of message ${number}`}
        value={text}
        rows={Math.min(12, Math.max(2, text.split('\n', 13).length))}
        dir="auto"
        onChange={(event) => onChange({ ...message, text: event.target.value })}
      />
      <Images message={message} onChange={onChange} />
      {extra === '' ? null : (
        <TextArea
          mono
          label="Other fields, as JSON"
          rows={Math.min(10, extra.split('\n', 11).length)}
          value={extra}
          onChange={(next) => onChange({ ...message, extra: next })}
        />
      )}
    </div>
  );
};

interface RequestPaneProps {
  readonly project: string;
  /** What it began with. */
  readonly seed: Seed;
  readonly trial: Trial;
  readonly state: TrialState;
  readonly models: readonly string[];
  /** Whether the key may send requests. */
  readonly allowed: boolean;
  /** Which variant it is, from 1; undefined if there is one alone. */
  readonly number: number | undefined;
  readonly onReset: () => void;
  readonly onRemove: () => void;
}

/** What is sent: model, messages and parameters, all of it to edit. */
const RequestPane = (props: RequestPaneProps) => {
  const { project, seed, trial, state, models, allowed, number, onReset, onRemove } = props;
  const { draft, problem } = state;
  const { model, messages } = draft;
  const busy = isBusy(state);
  const send = () => trial.send(seed.stored);
  const change = (at: number, next: readonly DraftMessage[]) =>
    trial.edit({ messages: [...messages.slice(0, at), ...next, ...messages.slice(at + 1)] });
  const lastRole = messages.at(-1)?.role;
  return (
    <Form
      className="stack"
      aria-label={number === undefined ? 'Request' : `Request ${number}`}
      onSubmit={() => allowed && send()}
      onKeyDown={(event) => {
        // A form of many fields and no submit button does nothing by Enter itself.
        const isWanted = event.ctrlKey || event.metaKey || event.target instanceof HTMLInputElement;
        // Enter may also have taken a suggestion.
        if (event.key !== 'Enter' || event.defaultPrevented || !isWanted || !allowed) return;
        event.preventDefault();
        send();
      }}
    >
      <Input
        label="Model"
        placeholder={models[0] ?? 'gpt-4o-mini'}
        suggestions={models}
        value={model}
        onChange={(next) => trial.edit({ model: next })}
      />
      <ParametersForm draft={draft} onChange={(parameters) => trial.edit({ parameters })} />
      <VariablesForm
        project={project}
        prompt={seed.prompt?.prompt}
        call={seed.original?.id}
        draft={draft}
        onChange={(values) => trial.edit({ values })}
      />
      {messages.map((message, at) => (
        <MessageEditor
          key={message.key}
          message={message}
          number={at + 1}
          onChange={(next) => change(at, [next])}
          onRemove={() => change(at, [])}
        />
      ))}
      <div>
        <Button
          onClick={() =>
            change(messages.length, [draftMessage({ role: lastRole === 'user' ? 'assistant' : 'user' })])
          }
        >
          Add message
        </Button>
      </div>
      {problem ? <Notice kind="error">{problem}</Notice> : null}
      <div className="send">
        {/* One element keeps the focus. It submits nothing, or Enter in a field would stop. */}
        <Button kind="primary" disabled={!allowed} onClick={busy ? trial.stop : send}>
          {busy ? 'Stop' : 'Send'}
        </Button>
        <Button kind="quiet" onClick={onReset}>
          Start over
        </Button>
        {number === undefined ? null : (
          <Button kind="quiet" aria-label={`Remove variant ${number}`} onClick={onRemove}>
            Remove
          </Button>
        )}
        <span className="spring" />
        <span className="hint">Ctrl+Enter sends</span>
      </div>
    </Form>
  );
};

const route = getRouteApi('/playground');

/** What the key lacks, in words; undefined if it may send requests that are recorded. */
const describeMissing = (me: Parameters<typeof allows>[0], project: string): string | undefined => {
  const missing = (['inference', 'write'] as const).filter((role) => !allows(me, project, role));
  return missing.length === 0 ? undefined : missing.join(' and ');
};

interface VariantProps {
  readonly project: string;
  readonly trials: Trials;
  readonly trial: Trial;
  readonly seed: Seed;
  readonly models: readonly string[];
  readonly allowed: boolean;
  readonly number: number | undefined;
}

/** A request and its answer: beside it, or below it if there are others. */
const Variant = ({ project, trials, trial, seed, models, allowed, number }: VariantProps) => {
  const state = useStore(trial.store);
  const answer = useRef<HTMLDivElement>(null);
  const { phase } = state;
  const isFirst = number === undefined || number === 1;
  // On a narrow screen, and beside other variants, the answer is below the request.
  useEffect(() => {
    if (phase === 'sending' && isFirst) answer.current?.scrollIntoView({ block: 'nearest' });
  }, [phase, isFirst]);
  return (
    <div className="variant">
      <RequestPane
        project={project}
        seed={seed}
        trial={trial}
        state={state}
        models={models}
        allowed={allowed}
        number={number}
        onReset={() => trials.replace(trial, seed.draft)}
        onRemove={() => trials.remove(trial)}
      />
      <div ref={answer} className="answer-pane">
        <AnswerPane trial={trial} state={state} project={project} original={seed.original} number={number} />
      </div>
    </div>
  );
};

interface PromptBarProps {
  readonly project: string;
  readonly seed: Seed;
  readonly trials: Trials;
  readonly onSaved: (version: PromptVersion) => void;
}

/** Opens the messages of a prompt, and saves those of the first variant as a version of one. */
const PromptBar = ({ project, seed, trials, onSaved }: PromptBarProps) => {
  const { client } = useSession();
  const cache = useQueryClient();
  const keeper = useKeeper();
  const navigate = route.useNavigate();
  const mayWrite = useAllowed(project, 'write');
  const { data: prompts = [] } = useRead(['prompts', project], async (reading) => {
    const request = { ...ofClass('Prompt'), ...byObject, metadata_only: true, limit: maxPrompts };
    return (await readObjects(reading, project, request)).map(({ object_id }) => object_id);
  });
  const [open, setOpen] = useState(false);
  const [name, setName] = useState(seed.prompt?.prompt ?? '');
  const { error, run, refuse } = useWork();
  const save = () => {
    const draft = trials.store.getState().trials[0]?.store.getState().draft;
    const prompt = name.trim();
    const made = draft && toPrompt(project, prompt, draft, prompt === seed.prompt?.prompt ? seed.config : {});
    if (!made || 'problem' in made) return refuse(made?.problem);
    run(async () => {
      const { digest: version } = await client.ask('/prompt/create', made.body);
      // What was typed and answered stays: it is that of the new version.
      const key = seedKey(project, { original: seed.original, prompt: { prompt, version } });
      keeper.put(key, trials);
      readAgain(cache, { predicate: ({ queryKey: [kind] }) => String(kind).startsWith('prompt') });
      setOpen(false);
      onSaved({ prompt, version });
    });
  };
  return (
    <>
      {prompts.length > 0 ? (
        <Menu
          label="Open a prompt"
          items={prompts.map((prompt) => ({
            label: prompt,
            checked: prompt === seed.prompt?.prompt,
            onSelect: () => navigate({ search: { project, prompt } }),
          }))}
        />
      ) : null}
      {mayWrite ? (
        <Popup label="Save as a prompt" name="Save as a prompt" open={open} onOpenChange={setOpen}>
          <Form className="stack" onSubmit={save}>
            <Input
              label="Name of the prompt; an existing one gets a new version"
              value={name}
              onChange={setName}
            />
            {error ? <p className="error-text">{error}</p> : null}
            <div className="row-end">
              <Button type="submit" kind="primary" disabled={name.trim() === ''}>
                Save
              </Button>
            </div>
          </Form>
        </Popup>
      ) : null}
    </>
  );
};

type DeskProps = Pick<PromptBarProps, 'project' | 'seed' | 'onSaved'>;

const Desk = ({ project, seed, onSaved }: DeskProps) => {
  const { me } = useSession();
  const { kept, trials } = useTrials(project, seed);
  const models = useModels(project);
  const lack = describeMissing(me, project);
  const many = trials.length > 1;
  return (
    <>
      <div className="actions">
        <PromptBar project={project} seed={seed} trials={kept} onSaved={onSaved} />
        {trials.length < maxVariants ? <Button onClick={kept.add}>Add a variant</Button> : null}
        <span className="spring" />
        {many ? (
          <Button kind="primary" disabled={lack !== undefined} onClick={() => kept.sendAll(seed.stored)}>
            Send all
          </Button>
        ) : null}
      </div>
      {lack ? (
        <Notice kind="error">
          This key cannot send requests: it lacks the role {lack} on {project}. Sign in with one that{' '}
          <code>npm run keys</code> made with{' '}
          <code>
            --grant {project}:inference --grant {project}:write
          </code>
          .
        </Notice>
      ) : null}
      <div className={`desk ${many ? 'many' : ''}`}>
        {trials.map((trial, at) => (
          <Variant
            key={trial.number}
            project={project}
            trials={kept}
            trial={trial}
            seed={seed}
            models={models}
            allowed={lack === undefined}
            number={many ? at + 1 : undefined}
          />
        ))}
      </div>
    </>
  );
};

/** What a version of a prompt begins, with its `version_index`; null if it has no messages. */
const usePrompt = (project: string, { prompt, version }: PromptVersion, isEnabled: boolean) =>
  useRead(
    ['prompt', project, prompt, version],
    async ({ client, signal }) => {
      const request = { project_id: project, object_id: prompt, digest: version };
      const { obj } = await client.ask('/obj/read', request, signal);
      const begun = draftOfPrompt(obj.val);
      return begun ? { ...begun, index: obj.version_index } : null;
    },
    { enabled: isEnabled },
  );

/** What the playground began with, in words. */
const Begun = ({ project, seed: { original, prompt, stored } }: { project: string; seed: Seed }) => {
  if (!original && !prompt)
    return (
      <>What you send is recorded in {project}. Open a model call or a prompt to start with its messages.</>
    );
  return (
    <>
      Begun with{' '}
      {original ? (
        <Link to="/trace" search={{ project, trace: original.trace_id, call: original.id }}>
          a recorded call
        </Link>
      ) : null}
      {original && prompt ? ' and ' : ''}
      {prompt ? (
        <>
          the prompt{' '}
          <Link
            to="/prompts"
            search={{ project, prompt: prompt.prompt, ...(stored && { version: `v${stored.version}` }) }}
          >
            {prompt.prompt} {stored ? `v${stored.version}` : ''}
          </Link>
        </>
      ) : null}
      . What you send is recorded in {project}, too.
    </>
  );
};

/** A model call or a prompt to change and send, or a new conversation. */
export const PlaygroundView = () => {
  const { project, call, prompt: name, version = 'latest' } = route.useSearch();
  const navigate = route.useNavigate();
  const [saved, setSaved] = useState<PromptVersion>();
  const noteSaved = (next: PromptVersion) => {
    setSaved(next);
    navigate({ search: (before) => ({ ...before, ...next }), replace: true });
  };
  const query = useCall(project, call);
  const prompted = usePrompt(project, { prompt: name ?? '', version }, name !== undefined);
  const waits = (call !== undefined && query.isPending) || (name !== undefined && !prompted.isFetched);
  const { data: original } = query;
  const { data: begun } = prompted;
  const seed: Seed = {
    original: original ?? undefined,
    prompt: name === undefined ? undefined : { prompt: name, version },
    stored:
      name === undefined || !begun ? undefined : { name, version: begun.index, messages: begun.messages },
    draft: seedDraft(original ?? undefined, begun ?? undefined),
    config: begun?.config ?? {},
  };
  return (
    <View
      title="Playground"
      className="playground"
      about={
        <p>
          <Begun project={project} seed={seed} />{' '}
          <span role="status">{saved?.version === version ? `Saved as a version of ${name}.` : ''}</span>
        </p>
      }
    >
      <QueryStatus queries={[query, prompted]} loading="Loading…" />
      {original === null ? (
        <Notice kind="error">This call was deleted. Start with an empty request.</Notice>
      ) : null}
      {begun === null ? (
        <Notice kind="error">This object has no messages, so it cannot be opened as a prompt.</Notice>
      ) : null}
      {waits ? null : (
        <Desk key={seedKey(project, seed).join('\n')} project={project} seed={seed} onSaved={noteSaved} />
      )}
    </View>
  );
};
