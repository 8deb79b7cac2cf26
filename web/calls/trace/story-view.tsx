import { useVirtualizer } from '@tanstack/react-virtual';
import { type CSSProperties, useEffect, useMemo, useRef, useState } from 'react';
import type { ContentPart, Message } from '../../../api/shared/conversation.ts';
import { getCallName, getStatus, usageByModel } from '../../api/calls.ts';
import { costText, countedText, countText, durationText } from '../../data/format.ts';
import { Button } from '../../ui/controls.tsx';
import { valueText } from '../../ui/diff.ts';
import { useIsSought } from '../../ui/sought.ts';
import { getImage, LongText, Markdown } from '../../ui/text.tsx';
import { StatusBadge, Tokens, WaitBadge } from '../badges.tsx';
import { useInSight } from '../data.ts';
import { KindIcon } from '../kind-icon.tsx';
import { FileCard } from '../messages/file-card.tsx';
import { ToolData } from '../messages/tool-view.tsx';
import { type Loop, loopText } from './loops.ts';
import {
  contentAt,
  neededFor,
  type Payloads,
  type StoryContext,
  type StoryItem,
  toContext,
  toStory,
} from './story.ts';
import type { TraceState } from './trace-state.ts';

/** How much of a text stands there at first, in characters, and from which length on it is cut. */
const firstLength = 1200;
const cutLength = 1800;

/** The same of data, in lines. */
const firstLines = 10;
const cutLines = 14;

const cutBeginning = (text: string, isData: boolean): string => {
  const lines = isData ? text.split('\n', cutLines + 1) : [];
  const shown = lines.length > cutLines ? lines.slice(0, firstLines).join('\n') : text;
  return shown.length > cutLength ? shown.slice(0, firstLength) : shown;
};

interface ClippedProps {
  readonly text: string;
  readonly plain?: boolean;
  /** Whether it is a value, told line by line. */
  readonly isData?: boolean;
}

/** A text of which a long one shows its beginning. */
const Clipped = ({ text, plain = false, isData = false }: ClippedProps) => {
  const beginning = cutBeginning(text, isData);
  const [isOpen, setOpen] = useState(false);
  const isSought = useIsSought();
  const whole = isOpen || beginning.length === text.length || isSought(text.slice(beginning.length));
  const shown = whole ? text : `${beginning}…`;
  return (
    <>
      {plain ? <LongText text={shown} /> : <Markdown text={shown} />}
      {whole ? null : (
        <Button kind="quiet" className="fold" onClick={() => setOpen(true)}>
          All {countText(text.length)} characters
        </Button>
      )}
    </>
  );
};

const shownText = (value: unknown): string => (typeof value === 'string' ? value : valueText(value));

interface StoryDataProps {
  readonly value: unknown;
  readonly path?: string | undefined;
  readonly plain: boolean;
}

/** What a tool takes or gives: as a reader wants to see it, or line by line. */
const StoryData = ({ value, path, plain }: StoryDataProps) => {
  const toData = (rest: unknown) => (
    <Clipped text={shownText(rest)} plain isData={typeof rest !== 'string'} />
  );
  return plain ? toData(value) : <ToolData value={value} path={path} toData={toData} />;
};

interface StoryPartProps {
  readonly part: ContentPart;
  readonly plain: boolean;
  /** Whether it is what a tool says itself, under its own name. */
  readonly ofTool: boolean;
}

const StoryPart = ({ part, plain, ofTool }: StoryPartProps) => {
  switch (part.kind) {
    case 'text':
      return <Clipped text={part.text} plain={plain} />;
    case 'thinking':
      return part.text === '' ? null : (
        <div className="thought">
          <Clipped text={part.text} plain />
        </div>
      );
    case 'image': {
      const own = getImage(part.url);
      return own ? (
        <img className="image" src={own} alt="In the message" />
      ) : (
        <p className="muted break">Image, not loaded: {part.url.slice(0, 300)}</p>
      );
    }
    case 'file':
      return <FileCard file={part.file} />;
    case 'call':
      return (
        <div className="story-data">
          <span className="muted">
            {ofTool ? (
              'takes'
            ) : (
              <>
                calls <code dir="auto">{part.name}</code>
              </>
            )}
          </span>
          <StoryData value={part.input} plain={plain} />
        </div>
      );
    case 'result':
      return (
        <div className="story-data">
          <span className="muted">
            {ofTool ? 'gives' : 'result'} {part.name ? <code dir="auto">{part.name}</code> : null}
          </span>
          <StoryData value={part.output} path={part.path} plain={plain} />
        </div>
      );
    case 'other':
      return (
        <div className="story-data">
          <StoryData value={part.value} plain={plain} />
        </div>
      );
  }
};

const StoryMessage = ({ message: { role, parts }, plain, ofTool = false }: StoryMessageProps) => {
  const content = parts.map((part, at) => <StoryPart key={at} part={part} plain={plain} ofTool={ofTool} />);
  if (role === 'system' || role === 'developer')
    return (
      <details className="story-said system">
        <summary>{role === 'system' ? 'System' : 'Developer'}</summary>
        {content}
      </details>
    );
  return (
    <div className={`story-said ${role}`}>
      {role === 'tool' ? null : <span className="message-head">{role}</span>}
      {content}
    </div>
  );
};

const Earlier = ({ messages, plain }: { messages: readonly Message[]; plain: boolean }) => {
  const [open, setOpen] = useState(false);
  if (messages.length === 0) return null;
  if (open) return messages.map((message, at) => <StoryMessage key={at} message={message} plain={plain} />);
  return (
    <Button kind="quiet" className="fold" onClick={() => setOpen(true)}>
      {countedText(messages.length, 'message')} of earlier turns
    </Button>
  );
};

/** What headers say of a call, in a line. */
const Facts = ({ item: { node } }: { item: StoryItem }) => {
  const { call, usage } = node;
  const status = getStatus(call);
  const models = [...usageByModel(call).keys()].join(', ');
  return (
    <span className="facts">
      {status === 'success' || status === 'descendant_error' ? null : <StatusBadge status={status} />}
      {getCallName(call) === models ? null : <span dir="auto">{models}</span>}
      {usage && usage.total > 0 ? <Tokens of={usage} unit="tok" /> : null}
      {usage?.cost === undefined ? null : <span>{costText(usage.cost)}</span>}
      <WaitBadge call={call} />
      <span>{durationText(node.end - node.start)}</span>
    </span>
  );
};

interface StoryMessageProps {
  readonly message: Message;
  readonly plain: boolean;
  readonly ofTool?: boolean;
}

interface PlaceProps {
  readonly item: StoryItem;
  readonly payloads: Payloads;
  readonly context: StoryContext;
  readonly selected: boolean;
  readonly found: boolean;
  readonly plain: boolean;
  /** The loop that it stands for, and whether that is unfolded. @default - none */
  readonly loop: Loop | undefined;
  readonly unfolded: boolean;
  readonly onSelect: () => void;
  readonly onLoop: () => void;
}

const Place = (props: PlaceProps) => {
  const { item, payloads, context, selected, found, plain, loop, unfolded, onSelect, onLoop } = props;
  const { node, part, depth } = item;
  const content = useMemo(() => contentAt(item, payloads, context), [item, payloads, context]);
  const isSilent = content && content.messages.length === 0 && content.exception === undefined;
  // The end of a call whose answer stands above already.
  if (part === 'end' && (!content || isSilent)) return null;
  return (
    <article
      data-kind={node.kind}
      className={`story-place ${selected ? 'selected' : ''} ${found ? 'found' : ''} ${content ? 'told' : ''}`}
      style={{ '--depth': Math.min(depth, 6) } as CSSProperties}
      aria-label={part === 'end' ? `Answer of ${node.name}` : node.name}
    >
      <header className="story-head">
        <KindIcon kind={node.kind} />
        <button type="button" className="story-name cut" dir="auto" onClick={onSelect}>
          {node.name}
        </button>
        {loop && part !== 'end' ? (
          <button type="button" className="badge loop" aria-expanded={unfolded} onClick={onLoop}>
            <span aria-hidden="true">↻</span> {loopText(loop)}
          </button>
        ) : null}
        {part === 'end' ? <span className="muted">answers</span> : <Facts item={item} />}
      </header>
      {content ? (
        <>
          <Earlier messages={content.earlier} plain={plain} />
          {content.messages.map((message, at) => (
            <StoryMessage key={at} message={message} plain={plain} ofTool={node.kind === 'tool'} />
          ))}
          {content.exception === undefined ? null : (
            <div className="exception">
              <Clipped text={content.exception} plain />
            </div>
          )}
        </>
      ) : (
        <p className="muted">…</p>
      )}
    </article>
  );
};

/** Payloads are read for so many places at once, and for the next ones ahead of their reader. */
const chunkSize = 24;

const columns = ['inputs', 'output', 'exception'];

/** What the places in sight need to be told, read in batches. */
const usePayloads = (
  project: string,
  items: readonly StoryItem[],
  context: StoryContext,
  [first, last]: readonly [first: number, last: number],
): Payloads => {
  const from = Math.max(0, Math.floor(first / chunkSize));
  const to = Math.floor((last + chunkSize / 2) / chunkSize);
  const batches = useMemo(
    () =>
      Array.from({ length: to - from + 1 }, (_, at) => {
        const chunk = items.slice((from + at) * chunkSize, (from + at + 1) * chunkSize);
        const calls = chunk.flatMap((item) =>
          neededFor(item, context).map((call) => [call.id, call] as const),
        );
        return [...new Map(calls).values()];
      }),
    [items, context, from, to],
  );
  return useInSight(project, batches, columns);
};

interface StoryViewProps {
  readonly state: TraceState;
  readonly project: string;
  /** Whether texts stand as they came, without Markdown. */
  readonly plain: boolean;
  readonly onSelect: (call: string) => void;
}

/** The whole trace as a text, of which only what is in sight is in the document. */
export const StoryView = ({ state, project, plain, onSelect }: StoryViewProps) => {
  const { all, told, matching, found, selected, loopOf, unfolded, toggleLoop } = state;
  const items = useMemo(
    () => toStory(told).filter(({ node }) => matching?.has(node.call.id) ?? true),
    [told, matching],
  );
  const context = useMemo(() => toContext(all), [all]);
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: items.length,
    getScrollElement: () => scroller.current,
    getItemKey: (at) => items[at]?.key ?? at,
    estimateSize: () => 72,
    overscan: 4,
  });
  const shown = virtual.getVirtualItems();
  const payloads = usePayloads(project, items, context, [shown[0]?.index ?? 0, shown.at(-1)?.index ?? 0]);
  const place = items.findIndex(({ node }) => node.call.id === selected);
  useEffect(() => {
    if (place > 0) virtual.scrollToIndex(place, { align: 'auto' });
  }, [place, virtual]);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls by keyboard
    <div ref={scroller} className="story-scroll" tabIndex={0} role="region" aria-label="Story">
      <div className="story" style={{ height: virtual.getTotalSize() }}>
        {shown.map(({ index, start }) => {
          const item = items[index];
          if (!item) return null;
          const { id } = item.node.call;
          const loop = loopOf.get(id);
          return (
            <div
              key={item.key}
              ref={virtual.measureElement}
              data-index={index}
              className="story-line"
              style={{ transform: `translateY(${start}px)` }}
            >
              <Place
                item={item}
                payloads={payloads}
                context={context}
                selected={id === selected && item.part !== 'end'}
                found={found.has(id)}
                plain={plain}
                loop={loop?.calls[0] === id ? loop : undefined}
                unfolded={unfolded.has(id)}
                onSelect={() => onSelect(id)}
                onLoop={() => toggleLoop(id)}
              />
            </div>
          );
        })}
      </div>
    </div>
  );
};
