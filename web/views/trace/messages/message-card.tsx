import { imageOf } from '../../../ui/image.ts';
import { JsonTree } from '../../../ui/json/json-tree.tsx';
import { LongText } from '../../../ui/long-text.tsx';
import type { Message, Part } from './message.ts';

/** Only images that are in the data are shown: any other would tell its host who reads what. */
const Image = ({ url }: { url: string }) => {
  const own = imageOf(url);
  if (own) return <img className="image" src={own} alt="In the message" />;
  return (
    <p className="muted break" dir="auto">
      Image, not loaded: {url.slice(0, 300)}
    </p>
  );
};

const Data = ({ value, label }: { value: unknown; label: string }) => {
  if (typeof value === 'string') return <LongText text={value} />;
  return <JsonTree value={value} path="" label={label} />;
};

const PartView = ({ part }: { part: Part }) => {
  switch (part.kind) {
    case 'text':
      return <LongText text={part.text} />;
    case 'thinking':
      return (
        <details className="thinking">
          <summary>Thinking</summary>
          <LongText text={part.text} />
        </details>
      );
    case 'image':
      return <Image url={part.url} />;
    case 'call':
      return (
        <div className="tool">
          <p className="tool-head">
            <span className="tool-kind">calls</span> <code dir="auto">{part.name}</code>
            {part.id ? <span className="muted break"> {part.id}</span> : null}
          </p>
          <Data value={part.input} label={`Arguments of ${part.name}`} />
        </div>
      );
    case 'result':
      return (
        <div className="tool">
          <p className="tool-head">
            <span className="tool-kind">result</span>
            {part.id ? <span className="muted break"> {part.id}</span> : null}
          </p>
          <Data value={part.output} label="Result" />
        </div>
      );
    case 'other':
      return <Data value={part.value} label="Part of the message" />;
  }
};

const roles = new Set(['system', 'developer', 'user', 'assistant', 'tool']);

/** A message with its role and its parts. */
export const MessageCard = ({ message: { role, name, parts } }: { message: Message }) => (
  <article className={`message ${roles.has(role) ? role : 'other'}`}>
    <header className="message-head" dir="auto">
      {role}
      {name ? ` · ${name}` : ''}
    </header>
    {parts.length === 0 ? <p className="muted">empty</p> : null}
    {parts.map((part, at) => (
      <PartView key={at} part={part} />
    ))}
  </article>
);
