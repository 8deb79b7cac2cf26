import { Button } from '../../ui/button.tsx';
import { imageOf } from '../../ui/image.ts';
import type { DraftMessage } from './draft.ts';

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
export const MessageEditor = ({ message, number, onChange, onRemove }: MessageEditorProps) => {
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
