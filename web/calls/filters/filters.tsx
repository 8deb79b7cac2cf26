import { ChevronDown, X } from 'lucide-react';
import { type ReactNode, type RefObject, Suspense, useState } from 'react';
import {
  type Changes,
  type Condition,
  type FeedbackFilter,
  feedbackFilters,
  needsValue,
  sourceTexts,
  type TracesSearch,
} from '../../navigation/search.ts';
import { useSession } from '../../session/session.tsx';
import { Button, SearchForm } from '../../ui/controls.tsx';
import { lazily } from '../../ui/lazy.ts';
import { Menu, Popup } from '../../ui/popups.tsx';
import { HeadTools } from '../../ui/view.tsx';
import { statusTexts } from '../badges.tsx';
import { tagAt } from '../scores.ts';
import { pathText } from './paths.ts';
import { SortMenu } from './sort-menu.tsx';
import { SourceMenu } from './source-menu.tsx';
import { TimeMenu } from './time-menu.tsx';

const ConditionForm = lazily(() => import('./condition-form.tsx'), 'ConditionForm');
const Facets = lazily(() => import('./facets.tsx'), 'Facets');

const modelPath = 'summary.usage.';

/** A condition in words. */
const conditionText = ({ path, op, value }: Condition): string => {
  if (path.startsWith(modelPath) && op === 'exists') return `Model is ${path.slice(modelPath.length)}`;
  const tag = tagAt(path);
  if (tag !== undefined && (op === 'is' || op === 'exists')) return `Tag is ${tag}`;
  return needsValue(op) ? `${pathText(path)} ${op} ${value}` : `${pathText(path)} ${op}`;
};

/** What a list is filtered by, and what changes it. */
interface FilterProps {
  readonly search: TracesSearch;
  readonly onChange: (change: Changes<TracesSearch>) => void;
}

/** Adds a condition: on a value that is there, or on any path with any operator. */
export const FilterBuilder = ({ search, onChange }: FilterProps) => {
  const [open, setOpen] = useState(false);
  const [facet, setFacet] = useState<string>();
  const [begun, setBegun] = useState<string>();
  const add = (condition: Condition, all = false) => {
    setOpen(false);
    setFacet(undefined);
    setBegun(undefined);
    onChange({ where: [...(search.where ?? []), condition], ...(all && { all: true }) });
  };
  return (
    <Popup label="+ Filter" name="New filter" align="start" open={open} onOpenChange={setOpen}>
      <Suspense>
        <Facets
          search={search}
          chosen={facet}
          onFacet={setFacet}
          onChoose={add}
          onBegin={(path) => {
            setFacet(undefined);
            setBegun(path);
          }}
        />
        {facet ? null : (
          <ConditionForm key={begun} search={search} begun={begun} onAdd={(condition) => add(condition)} />
        )}
      </Suspense>
    </Popup>
  );
};

const statuses = Object.entries(statusTexts);

/** Chooses states of calls. */
export const StatusMenu = ({ search: { status = [] }, onChange }: FilterProps) => {
  const toggled = (value: string): readonly string[] =>
    status.includes(value) ? status.filter((other) => other !== value) : [...status, value];
  const shown = statuses.filter(([value]) => status.includes(value)).map(([, text]) => text);
  return (
    <Menu
      label={
        <>
          {shown.length > 0 ? shown.join(', ') : 'Any status'} <ChevronDown />
        </>
      }
      items={statuses.map(([value, text]) => ({
        label: text,
        checked: status.includes(value),
        onSelect: () => {
          const next = toggled(value);
          onChange({ status: next.length > 0 ? next : undefined });
        },
      }))}
    />
  );
};

const feedbackTexts: Readonly<Record<FeedbackFilter, string>> = {
  given: 'with feedback',
  up: 'thumbs up',
  down: 'thumbs down',
  score: 'with a score',
  note: 'with a comment',
  correction: 'with a correction',
  none: 'without feedback',
};

/** Chooses calls by their feedback, and those whose comments mention the reader. */
export const FeedbackMenu = ({ search: { feedback, mentions }, onChange }: FilterProps) => {
  const { user } = useSession().me;
  const shown = mentions === undefined ? [] : [mentions === user ? 'mentions me' : `mentions ${mentions}`];
  const texts = feedback ? [feedbackTexts[feedback], ...shown] : shown;
  return (
    <Menu
      label={
        <>
          {texts.length > 0 ? texts.join(', ') : 'Any feedback'} <ChevronDown />
        </>
      }
      items={[
        ...feedbackFilters.map((value) => ({
          label: feedbackTexts[value],
          checked: feedback === value,
          onSelect: () => onChange({ feedback: feedback === value ? undefined : value }),
        })),
        {
          label: 'mentions me',
          checked: mentions === user,
          onSelect: () => onChange({ mentions: mentions === user ? undefined : user }),
        },
      ]}
    />
  );
};

/** Chooses between traces, by their roots, and all calls. */
export const LevelMenu = ({ search: { all }, onChange }: FilterProps) => (
  <Menu
    label={
      <>
        {all ? 'All calls' : 'Traces'} <ChevronDown />
      </>
    }
    items={[
      {
        label: 'Traces: root calls',
        checked: !all,
        onSelect: () => onChange({ all: undefined, sort: undefined }),
      },
      {
        label: 'All calls',
        checked: all === true,
        onSelect: () => onChange({ all: true, sort: undefined }),
      },
    ]}
  />
);

/** The conditions, each with what removes it. What is searched for stands in the field above them. */
export const Chips = ({ search: { where = [] }, onChange }: FilterProps) => {
  const chips = where.map((condition, at) => ({
    text: conditionText(condition),
    remove: () => {
      const rest = where.filter((_, index) => index !== at);
      onChange({ where: rest.length > 0 ? rest : undefined });
    },
  }));
  return chips.length === 0 ? null : (
    <ul className="chips" aria-label="Filters">
      {chips.map((chip) => (
        <li key={chip.text} className="chip">
          <span className="cut" dir="auto">
            {chip.text}
          </span>
          <button type="button" aria-label={`Remove the filter ${chip.text}`} onClick={chip.remove}>
            <X />
          </button>
        </li>
      ))}
    </ul>
  );
};

/** What calls are filtered by, in words. */
export const filterTexts = (search: Omit<TracesSearch, 'project'>): string[] => {
  const { all, status = [], feedback, mentions, text, where = [], source } = search;
  return [
    all ? 'all calls' : 'traces',
    sourceTexts[source ?? 'production'].toLowerCase(),
    ...(status.length > 0
      ? [statuses.flatMap(([value, name]) => (status.includes(value) ? [name] : [])).join(' or ')]
      : []),
    ...(feedback ? [feedbackTexts[feedback]] : []),
    ...(mentions ? [`mentions ${mentions}`] : []),
    ...(text ? [`text contains ${text}`] : []),
    ...where.map(conditionText),
  ];
};

/** A list without filters. */
export const unfiltered = {
  range: undefined,
  from: undefined,
  to: undefined,
  status: undefined,
  text: undefined,
  repeated: undefined,
  where: undefined,
  feedback: undefined,
  mentions: undefined,
  source: undefined,
} satisfies Changes<TracesSearch>;

const hasTime = ({ range, from, to }: TracesSearch): boolean =>
  [range, from, to].some((part) => part !== undefined);

/** How many things a list is filtered by, beside its time. */
export const countFilters = ({ status, where = [], feedback, mentions, source }: TracesSearch): number =>
  [status, feedback, mentions, source].filter((filter) => filter !== undefined).length + where.length;

interface FilterBarProps extends FilterProps {
  readonly searchBox: RefObject<HTMLInputElement | null>;
  /** Opens and closes what there is no room for on a phone beside the filters. */
  readonly more: ReactNode;
  /** What stands at the other end. */
  readonly end: ReactNode;
}

/** What the list is filtered by. On a phone, all but the search folds into a button. */
export const FilterBar = (props: FilterBarProps) => {
  const { search, onChange, more, end } = props;
  const [open, setOpen] = useState(false);
  const count = countFilters(search);
  return (
    <>
      <div className={open ? 'filters open' : 'filters'}>
        <SearchForm
          label="Search in all calls"
          text={search.text}
          box={props.searchBox}
          onSearch={(text) => onChange({ text, repeated: undefined })}
        />
        <Button className="phone" aria-expanded={open} onClick={() => setOpen(!open)}>
          Filters{count > 0 ? ` ${count}` : ''}
        </Button>
        {more}
        <div className="folded">
          <SourceMenu source={search.source} onChange={(source) => onChange({ source })} />
          <StatusMenu {...props} />
          <FeedbackMenu {...props} />
          {search.text ? null : <LevelMenu {...props} />}
          <FilterBuilder search={search} onChange={onChange} />
          <SortMenu search={search} onChange={onChange} />
          {count > 0 || search.text || hasTime(search) ? (
            <Button kind="quiet" onClick={() => onChange(unfiltered)}>
              Clear filters
            </Button>
          ) : null}
          <span className="spring" />
          {end}
        </div>
      </div>
      <HeadTools>
        <TimeMenu span={search} onChange={({ range, from, to }) => onChange({ range, from, to })} />
      </HeadTools>
      <Chips {...props} />
    </>
  );
};
