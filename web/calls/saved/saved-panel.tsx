import { useNavigate } from '@tanstack/react-router';
import { X } from 'lucide-react';
import { useState } from 'react';
import { errorText } from '../../api/http.ts';
import { useAllowed } from '../../session/session.tsx';
import { newObjectId } from '../../session/stored.ts';
import { Button, Check, Notice, QueryStatus } from '../../ui/controls.tsx';
import { Form, Input } from '../../ui/fields.tsx';
import { type Savable, type SavedView, savedState } from './saved.ts';
import { isSame, useSavedViews } from './store.ts';

interface SavedPanelProps {
  readonly view: Savable;
  readonly search: { readonly project: string };
  readonly onDone: () => void;
}

interface NameFormProps {
  /** @default - a new view */
  readonly view: SavedView | undefined;
  /** Whether a view of this name takes its place. */
  readonly replaces: (name: string) => boolean;
  readonly onSave: (name: string, isDefault: boolean) => void;
}

/** Names a view, and makes it the one that the project opens with. */
const NameForm = ({ view, replaces, onSave }: NameFormProps) => {
  const [name, setName] = useState(view?.name ?? '');
  const [isDefault, setDefault] = useState(view?.isDefault ?? false);
  const submit = () => {
    onSave(name.trim(), isDefault);
    setName('');
  };
  return (
    <Form className="stack" onSubmit={submit}>
      <Input
        label={view ? 'Name' : 'Save what you see as'}
        spellCheck
        maxLength={100}
        value={name}
        onChange={setName}
      />
      <Check label="Open the project with this view" checked={isDefault} onChange={setDefault} />
      <Button type="submit" kind="primary" disabled={name.trim() === ''}>
        {view ? 'Change' : replaces(name.trim()) ? 'Replace' : 'Save'}
      </Button>
    </Form>
  );
};

/** The saved views of a project: opened, saved, renamed and deleted. */
export const SavedPanel = ({ view, search, onDone }: SavedPanelProps) => {
  const navigate = useNavigate();
  const { project } = search;
  const { query, views = [], save, remove } = useSavedViews(project, true);
  const [changing, setChanging] = useState<SavedView>();
  const state = savedState(search);
  const mayWrite = useAllowed(project, 'write');
  const open = ({ view: to, search: saved }: SavedView) => {
    onDone();
    navigate({ to: `/${to}`, search: { ...saved, project } as never });
  };
  const named = (name: string) => views.find((saved) => saved.name === name && saved.view === view);
  const failure = save.error ?? remove.error;
  return (
    <>
      <QueryStatus queries={[query]} loading="Loading the views…" />
      {failure ? <Notice kind="error">{errorText(failure)}</Notice> : null}
      {query.data && views.length === 0 ? <p className="muted">No view was saved yet.</p> : null}
      <ul className="values-list">
        {views.map((saved) => (
          <li key={saved.id} className="row-between">
            <Button
              kind="quiet"
              aria-current={saved.view === view && isSame(saved.search, state) ? 'true' : undefined}
              onClick={() => open(saved)}
            >
              <span className="cut" dir="auto">
                {saved.name}
              </span>
              <span className="muted">
                {saved.isDefault ? '★ ' : ''}
                {saved.view === 'traces' ? 'list' : 'overview'}
              </span>
            </Button>
            {mayWrite ? (
              <span className="column-tools">
                <Button
                  kind="quiet"
                  aria-label={`Change ${saved.name}`}
                  aria-expanded={changing?.id === saved.id}
                  onClick={() => setChanging(changing?.id === saved.id ? undefined : saved)}
                >
                  ✎
                </Button>
                <Button
                  kind="quiet"
                  aria-label={`Delete ${saved.name}`}
                  onClick={() => remove.mutate(saved.id)}
                >
                  <X />
                </Button>
              </span>
            ) : null}
          </li>
        ))}
      </ul>
      {mayWrite ? (
        <NameForm
          key={changing?.id ?? ''}
          view={changing}
          replaces={(name) => named(name) !== undefined}
          onSave={(name, isDefault) => {
            const present = { id: named(name)?.id ?? newObjectId('saved-view'), view, search: state };
            save.mutate({ ...(changing ?? present), name, isDefault });
            setChanging(undefined);
          }}
        />
      ) : (
        <p className="hint">Saving takes a key with the role write on {project}.</p>
      )}
    </>
  );
};
