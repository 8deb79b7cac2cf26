import { getRouteApi, Link } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import type { Call } from '../../api/contract.ts';
import { allows, useSession, useStore } from '../../session/session.tsx';
import { Button, Notice, QueryStatus } from '../../ui/controls.tsx';
import { imageOf } from '../../ui/text.tsx';
import { useCall } from '../data.ts';
import { AnswerPane } from './answer-pane.tsx';
import { type DraftMessage, draftMessage, draftOf, emptyDraft } from './draft.ts';
import { isBusy, Trial, type TrialState } from './trial.ts';

/** The trial of a call, from the cache or begun anew. What is on its way stops when one leaves. */
const useTrial = (project: string, original: Call | undefined) => {
  const { client } = useSession();
  const make = () => new Trial(client, project, (original && draftOf(original)) ?? emptyDraft());
  const {
    store: trial,
    state,
    replace,
  } = useStore<Trial, TrialState>(['trial', project, original?.id], make);
  useEffect(() => trial.stop, [trial]);
  const reset = () => {
    trial.stop();
    replace(make());
  };
  return { trial, state, reset };
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
    const own = imageOf(url);
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
        <select
          className="role"
          aria-label={`Role of message ${number}`}
          value={role}
          onChange={(event) => onChange({ ...message, role: event.target.value })}
        >
          {(known ? roles : [role, ...roles]).map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
        <Button
          kind="quiet"
          aria-label={`Remove message ${number}`}
          onClick={({ currentTarget }) => {
            // This button goes away. The next is that of another message, or adds a message.
            currentTarget.closest('.message')?.nextElementSibling?.querySelector('button')?.focus();
            onRemove();
          }}
        >
          ✕
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
        <label className="field">
          <span>Other fields, as JSON</span>
          <textarea
            className="mono"
            value={extra}
            rows={Math.min(10, extra.split('\n', 11).length)}
            spellCheck={false}
            onChange={(event) => onChange({ ...message, extra: event.target.value })}
          />
        </label>
      )}
    </div>
  );
};

interface RequestPaneProps {
  readonly trial: Trial;
  readonly state: TrialState;
  /** Whether the key may send requests. */
  readonly allowed: boolean;
  readonly onReset: () => void;
}

/** What is sent: model, messages and parameters, all of it to edit. */
const RequestPane = ({ trial, state, allowed, onReset }: RequestPaneProps) => {
  const { draft, problem } = state;
  const { model, messages, parameters } = draft;
  const busy = isBusy(state);
  const change = (at: number, next: readonly DraftMessage[]) =>
    trial.edit({ messages: [...messages.slice(0, at), ...next, ...messages.slice(at + 1)] });
  const lastRole = messages.at(-1)?.role;
  return (
    <form
      className="stack"
      aria-label="Request"
      onSubmit={(event) => {
        event.preventDefault();
        if (allowed) trial.send();
      }}
      onKeyDown={(event) => {
        if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey) || !allowed) return;
        event.preventDefault();
        trial.send();
      }}
    >
      <label className="field">
        <span>Model</span>
        <input
          value={model}
          spellCheck={false}
          placeholder="gpt-4o-mini"
          onChange={(event) => trial.edit({ model: event.target.value })}
        />
      </label>
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
      <label className="field">
        <span>Parameters, as JSON</span>
        <textarea
          className="mono"
          value={parameters}
          rows={Math.min(12, Math.max(3, parameters.split('\n', 13).length))}
          spellCheck={false}
          onChange={(event) => trial.edit({ parameters: event.target.value })}
        />
      </label>
      {problem ? <Notice kind="error">{problem}</Notice> : null}
      <div className="send">
        {/* One element keeps the focus. It submits nothing, or Enter in a field would stop. */}
        <Button kind="primary" disabled={!allowed} onClick={busy ? trial.stop : trial.send}>
          {busy ? 'Stop' : 'Send'}
        </Button>
        <Button kind="quiet" onClick={onReset}>
          Start over
        </Button>
        <span className="spring" />
        <span className="hint">Ctrl+Enter sends</span>
      </div>
    </form>
  );
};

const route = getRouteApi('/playground');

/** What the key lacks, in words; undefined if it may send requests that are recorded. */
const lackOf = (me: Parameters<typeof allows>[0], project: string): string | undefined => {
  const missing = (['inference', 'write'] as const).filter((role) => !allows(me, project, role));
  return missing.length === 0 ? undefined : missing.join(' and ');
};

const Desk = ({ project, original }: { project: string; original: Call | undefined }) => {
  const { me } = useSession();
  const { trial, state, reset } = useTrial(project, original);
  const lack = lackOf(me, project);
  const answer = useRef<HTMLDivElement>(null);
  const { phase } = state;
  // On a narrow screen the answer is below the request.
  useEffect(() => {
    if (phase === 'sending') answer.current?.scrollIntoView({ block: 'nearest' });
  }, [phase]);
  return (
    <>
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
      <div className="desk">
        <RequestPane trial={trial} state={state} allowed={lack === undefined} onReset={reset} />
        <div ref={answer} className="answer-pane">
          <AnswerPane trial={trial} state={state} project={project} original={original} />
        </div>
      </div>
    </>
  );
};

/** A model call to change and send again, or a new one. */
export const PlaygroundView = () => {
  const { project, call } = route.useSearch();
  const query = useCall(project, call);
  const { data: original } = query;
  const waits = call !== undefined && query.isPending;
  return (
    <main className="playground">
      <h1>Playground</h1>
      <p className="muted">
        {original ? (
          <>
            Begun with{' '}
            <Link to="/trace" search={{ project, trace: original.trace_id, call: original.id }}>
              a recorded call
            </Link>
            . What you send is recorded in {project}, too.
          </>
        ) : (
          <>What you send is recorded in {project}. Open a model call to begin with its messages.</>
        )}
      </p>
      <QueryStatus of={[query]} loading="Loading the call…" />
      {original === null ? (
        <Notice kind="error">
          This call is not there any more: it was deleted. Begin with an empty request.
        </Notice>
      ) : null}
      {waits ? null : <Desk key={original?.id ?? ''} project={project} original={original ?? undefined} />}
    </main>
  );
};
