import { Button } from '../../ui/button.tsx';
import { Notice } from '../../ui/notice.tsx';
import { type DraftMessage, draftMessage } from './draft.ts';
import { MessageEditor } from './message-editor.tsx';
import { isBusy, type Trial, type TrialState } from './trial.ts';

interface RequestPaneProps {
  readonly trial: Trial;
  readonly state: TrialState;
  /** Whether the key may send requests. */
  readonly allowed: boolean;
  readonly onReset: () => void;
}

/** What is sent: model, messages and parameters, all of it to edit. */
export const RequestPane = ({ trial, state, allowed, onReset }: RequestPaneProps) => {
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
