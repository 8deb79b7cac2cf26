import { useQueryClient } from '@tanstack/react-query';
import { type KeyboardEvent, useEffect, useId, useMemo, useRef, useState } from 'react';
import {
  type Comment,
  commentPath,
  cutMentions,
  getComments,
  mentionsIn,
  saveComment,
} from '../../api/comments.ts';
import type { Call } from '../../api/contract.ts';
import { takeBack } from '../../api/feedback.ts';
import { readRows } from '../../calls/data.ts';
import { usePeople } from '../../calls/figures/people.ts';
import { allows, readAgain, useAllowed, useRead, useSession } from '../../session/session.tsx';
import { Button, CopyButton, Moment, Notice } from '../../ui/controls.tsx';
import { Form } from '../../ui/fields.tsx';
import { Confirm } from '../../ui/popups.tsx';
import { Markdown } from '../../ui/text.tsx';
import { useWork } from '../../ui/work.ts';
import { useChangeFeedback } from './feedback.tsx';

/** How many calls with comments a trace shows at most. */
const maxCommented = 1000;

/** How many comments the calls of a trace have, by their ids; those without any are missing. */
export const useCommentCounts = (
  project: string,
  trace: string,
  isEnabled: boolean,
): ReadonlyMap<string, number> => {
  const { data = none } = useRead(
    ['comments', project, trace],
    async (reading) => {
      const rows = await readRows(reading, {
        project_id: project,
        filter: { trace_ids: [trace] },
        query: { $expr: { $ne: [{ $getField: commentPath }, { $literal: null }] } },
        columns: ['summary.svc.feedback'],
        include_feedback: true,
        limit: maxCommented,
      });
      return new Map(rows.map((row) => [row.id, getComments(row).length]));
    },
    { enabled: isEnabled },
  );
  return data;
};

const none: ReadonlyMap<string, number> = new Map();

/** Changes the comments on a call that are on the screen, and has those of its trace counted again. */
const useChangeComments = (call: Call) => {
  const cache = useQueryClient();
  const apply = useChangeFeedback(call);
  return (...change: Parameters<typeof apply>) => {
    apply(...change);
    return readAgain(cache, {
      predicate: ({ queryKey: [kind, , project, trace] }) =>
        kind === 'comments' && project === call.project_id && trace === call.trace_id,
    });
  };
};

/** The word that is typed at a place of a text, if it begins with `@`: where it begins, and what follows. */
const mentionAt = (
  text: string,
  caret: number,
): { readonly from: number; readonly typed: string } | undefined => {
  const [, typed] = /(?:^|[\s(])@([^\s@]*(?:@[^\s@]*)?)$/.exec(text.slice(0, Math.max(0, caret))) ?? [];
  return typed === undefined ? undefined : { from: caret - typed.length - 1, typed: typed.toLowerCase() };
};

/** How many people are suggested at once. */
const maxSuggested = 6;

interface MentionBoxProps {
  readonly project: string;
  readonly label: string;
  readonly text: string;
  readonly onText: (text: string) => void;
  readonly onSubmit: () => void;
  readonly onCancel?: () => void;
  readonly isFocused?: boolean;
}

/** A text in which `@` suggests people of the project. */
const MentionBox = (props: MentionBoxProps) => {
  const { project, label, text, onText, onSubmit, onCancel, isFocused = false } = props;
  const box = useRef<HTMLTextAreaElement>(null);
  const [caret, setCaret] = useState(text.length);
  const [at, setAt] = useState(0);
  const [closedAt, setClosedAt] = useState(-1);
  const id = useId();
  const mention = mentionAt(text, caret);
  const people = usePeople(project, mention !== undefined);
  const suggested =
    mention && mention.from !== closedAt
      ? people.filter((user) => user.toLowerCase().includes(mention.typed)).slice(0, maxSuggested)
      : [];
  const marked = Math.min(at, suggested.length - 1);
  useEffect(() => {
    if (isFocused) box.current?.focus();
  }, [isFocused]);
  const take = (user: string) => {
    if (!mention) return;
    const next = `${text.slice(0, mention.from)}@${user} `;
    onText(next + text.slice(caret).replace(/^ /, ''));
    setCaret(next.length);
    setAt(0);
    // The caret goes behind the name once the text is there.
    requestAnimationFrame(() => {
      box.current?.focus();
      box.current?.setSelectionRange(next.length, next.length);
    });
  };
  const step = (by: number) => setAt((marked + by + suggested.length) % suggested.length);
  const actions: Readonly<Record<string, () => void>> = {
    ArrowDown: () => step(1),
    ArrowUp: () => step(-1),
    Enter: () => take(suggested[marked] ?? ''),
    Tab: () => take(suggested[marked] ?? ''),
    Escape: () => setClosedAt(mention?.from ?? -1),
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    const { key } = event;
    const isSending = key === 'Enter' && (event.ctrlKey || event.metaKey);
    const action = isSending
      ? onSubmit
      : suggested.length > 0
        ? actions[key]
        : key === 'Escape'
          ? onCancel
          : undefined;
    if (!action || event.shiftKey) return;
    event.preventDefault();
    event.stopPropagation();
    action();
  };
  return (
    <div className="mention-box">
      <textarea
        ref={box}
        rows={3}
        required
        dir="auto"
        aria-label={label}
        placeholder="Markdown. @ mentions somebody."
        value={text}
        aria-autocomplete="list"
        aria-controls={suggested.length > 0 ? id : undefined}
        aria-activedescendant={suggested.length > 0 ? `${id}-${marked}` : undefined}
        onChange={({ target }) => {
          onText(target.value);
          setCaret(target.selectionStart);
          setAt(0);
          if (!mentionAt(target.value, target.selectionStart)) setClosedAt(-1);
        }}
        onSelect={({ currentTarget }) => setCaret(currentTarget.selectionStart)}
        onKeyDown={onKey}
        onBlur={() => setCaret(-1)}
      />
      {suggested.length > 0 ? (
        <div className="menu mention-list" role="listbox" id={id} aria-label="People" tabIndex={-1}>
          {suggested.map((user, place) => (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the text has the focus, and takes all keys
            <div
              key={user}
              className="menu-item"
              {...(place === marked && { 'data-highlighted': true })}
              id={`${id}-${place}`}
              role="option"
              aria-selected={place === marked}
              tabIndex={-1}
              dir="auto"
              onMouseDown={(event) => event.preventDefault()}
              onClick={() => take(user)}
            >
              {user}
            </div>
          ))}
        </div>
      ) : null}
    </div>
  );
};

interface CommentFormProps {
  readonly call: Call;
  /** The comment that is edited. @default - a new one is made */
  readonly comment?: Comment;
  readonly onDone?: () => void;
}

/** Writes a comment, or another text of one. */
const CommentForm = ({ call, comment, onDone }: CommentFormProps) => {
  const { client } = useSession();
  const [text, setText] = useState(comment?.text ?? '');
  const people = usePeople(call.project_id, text.includes('@'));
  const apply = useChangeComments(call);
  const { isBusy, error, run } = useWork();
  const submit = () => {
    const written = text.trim();
    if (written === '' || isBusy) return;
    run(async () => {
      // Whom it mentioned before, it still does, also if they are not known any more.
      const mentions = mentionsIn(written, [...people, ...(comment?.mentions ?? [])]);
      const saved = await saveComment(client, call, written, mentions, comment);
      apply((all) =>
        comment ? all.map((record) => (record.id === comment.record.id ? saved : record)) : [...all, saved],
      );
      setText(comment ? written : '');
      onDone?.();
    });
  };
  return (
    <Form className="comment-form" onSubmit={submit}>
      <MentionBox
        project={call.project_id}
        label={comment ? 'Edit the comment' : 'Comment'}
        text={text}
        onText={setText}
        onSubmit={submit}
        isFocused={comment !== undefined}
        {...(onDone && { onCancel: onDone })}
      />
      {error ? <Notice kind="error">The comment was not saved. {error}</Notice> : null}
      <div className="row-end">
        {onDone ? <Button onClick={onDone}>Cancel</Button> : null}
        <Button
          kind="primary"
          type="submit"
          idle={isBusy || text.trim() === '' || text.trim() === comment?.text}
        >
          {isBusy ? 'Saving…' : comment ? 'Save' : 'Comment'}
        </Button>
      </div>
    </Form>
  );
};

/** The address of a comment. */
const linkTo = ({ project_id, trace_id, id }: Call, comment: Comment): string => {
  const url = new URL('trace', document.baseURI);
  const search = { project: project_id, trace: trace_id, call: id, tab: 'comments', comment: comment.id };
  for (const [name, value] of Object.entries(search)) url.searchParams.set(name, value);
  return url.href;
};

/** A comment's text as Markdown, with whom it mentions as chips. */
const CommentText = ({ text, mentions }: Pick<Comment, 'text' | 'mentions'>) => {
  const { me } = useSession();
  const names = mentions.join('\n');
  const showText = useMemo(() => {
    if (names === '') return undefined;
    return (piece: string) =>
      cutMentions(piece, names.split('\n')).map((part, at) =>
        'user' in part ? (
          <span key={at} className={part.user === me.user ? 'mention own' : 'mention'}>
            @{part.user}
          </span>
        ) : (
          part.text
        ),
      );
  }, [names, me.user]);
  return <Markdown text={text} showText={showText} />;
};

interface CommentCardProps {
  readonly call: Call;
  readonly comment: Comment;
  /** Whether a link leads to it. */
  readonly isLinked: boolean;
}

const CommentCard = ({ call, comment, isLinked }: CommentCardProps) => {
  const { me, client } = useSession();
  const [editing, setEditing] = useState(false);
  const [deleting, setDeleting] = useState(false);
  const card = useRef<HTMLLIElement>(null);
  const apply = useChangeComments(call);
  const { isBusy, error, run } = useWork();
  const { record, author, text, mentions, isEdited } = comment;
  const isOwn = record.svc_user_id === me.user && record.creator === null;
  const mayEdit = isOwn && allows(me, call.project_id, 'write');
  const mayDelete = mayEdit || allows(me, call.project_id, 'admin');
  useEffect(() => {
    if (!isLinked) return;
    card.current?.scrollIntoView({ block: 'center' });
    card.current?.focus({ preventScroll: true });
  }, [isLinked]);
  const remove = () =>
    run(
      async () => {
        await takeBack(client, call.project_id, record);
        apply((all) => all.filter(({ id }) => id !== record.id));
      },
      { failed: 'The comment was not deleted.' },
    );
  const endEdit = () => {
    setEditing(false);
    card.current?.focus();
  };
  return (
    <li ref={card} tabIndex={-1} className={isLinked ? 'comment card linked' : 'comment card'}>
      <div className="comment-head">
        <strong className="cut" dir="auto">
          {author}
        </strong>
        <span className="facts">
          <Moment time={record.created_at} />
          {isEdited ? <span>edited</span> : null}
        </span>
        <span className="comment-actions">
          <CopyButton text={() => linkTo(call, comment)} label="Copy the link to this comment">
            Link
          </CopyButton>
          {mayEdit && !editing ? (
            <Button kind="quiet" onClick={() => setEditing(true)}>
              Edit
            </Button>
          ) : null}
          {mayDelete && !editing ? (
            <Button kind="quiet" onClick={() => setDeleting(true)}>
              Delete
            </Button>
          ) : null}
        </span>
      </div>
      {editing ? (
        <CommentForm call={call} comment={comment} onDone={endEdit} />
      ) : (
        <CommentText text={text} mentions={mentions} />
      )}
      <Confirm
        title="Delete the comment?"
        action="Delete"
        open={deleting}
        onClose={() => setDeleting(false)}
        idle={isBusy}
        error={error}
        onConfirm={remove}
      >
        It is deleted for good.
      </Confirm>
    </li>
  );
};

interface CommentsPanelProps {
  readonly call: Call;
  /** The comment that a link leads to. @default - none */
  readonly linked: string | undefined;
}

/** What people say about a call to each other, oldest first. */
export const CommentsPanel = ({ call, linked }: CommentsPanelProps) => {
  const mayWrite = useAllowed(call.project_id, 'write');
  const comments = getComments(call);
  return (
    <div className="stack comments">
      {comments.length === 0 ? <p className="muted">Nobody has commented on this call yet.</p> : null}
      {linked !== undefined && !comments.some(({ id }) => id === linked) ? (
        <Notice kind="info">The comment that the link leads to was deleted.</Notice>
      ) : null}
      <ul className="comment-list" aria-label="Comments">
        {comments.map((comment) => (
          <CommentCard key={comment.id} call={call} comment={comment} isLinked={comment.id === linked} />
        ))}
      </ul>
      {mayWrite ? (
        <CommentForm call={call} />
      ) : (
        <p className="muted">This key may not write to the project, so it cannot comment.</p>
      )}
    </div>
  );
};
