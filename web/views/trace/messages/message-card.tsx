import { imageOf } from '../../../ui/image.ts';
import { JsonTree } from '../../../ui/json/json-tree.tsx';
import { LongText } from '../../../ui/long-text.tsx';
import { Markdown } from '../../../ui/markdown/markdown.tsx';
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

/** How long a value is at most that stands in a line, without a tree. */
const lineLength = 120;

/** A small value as a line of JSON; undefined for one that needs a tree. */
const lineOf = (value: unknown): string | undefined => {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.values(value);
  if (members.length > 6 || members.some((member) => typeof member === 'object' && member !== null))
    return undefined;
  const length = members.reduce<number>((sum, member) => sum + String(member).length, 0);
  if (length > lineLength) return undefined;
  const line = JSON.stringify(value, null, 1).replace(/\n\s*/g, ' ');
  return line.length > lineLength ? undefined : line;
};

const Data = ({ value, label }: { value: unknown; label: string }) => {
  if (typeof value === 'string') return <LongText text={value} />;
  const line = lineOf(value);
  if (line === undefined) return <JsonTree value={value} path="" label={label} />;
  return (
    <code className="value" dir="auto">
      {line}
    </code>
  );
};

const PartView = ({ part, plain }: { part: Part; plain: boolean }) => {
  switch (part.kind) {
    case 'text':
      return plain ? <LongText text={part.text} /> : <Markdown text={part.text} />;
    case 'thinking':
      if (part.text === '') return <p className="muted">Thinking, without words</p>;
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
            <span className="tool-kind">{part.name ? 'result of' : 'result'}</span>{' '}
            {part.name ? <code dir="auto">{part.name}</code> : null}
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

interface MessageCardProps {
  readonly message: Message;
  /** Whether texts stand as they came, without Markdown. @default false */
  readonly plain?: boolean;
}

/** A message with its role and its parts. */
export const MessageCard = ({ message: { role, name, parts }, plain = false }: MessageCardProps) => (
  <article className={`message ${roles.has(role) ? role : 'other'}`}>
    <header className="message-head" dir="auto">
      {role}
      {name ? ` · ${name}` : ''}
    </header>
    {parts.length === 0 ? <p className="muted">empty</p> : null}
    {parts.map((part, at) => (
      <PartView key={at} part={part} plain={plain} />
    ))}
  </article>
);
