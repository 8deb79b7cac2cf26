import { countedText } from '../../data/format.ts';
import { type Changes, changed, costPath, type TracesSearch } from '../../navigation/search.ts';
import { SearchBox } from '../../ui/controls.tsx';
import { Chips, FeedbackMenu, FilterBuilder, LevelMenu, StatusMenu } from './filters.tsx';
import { chosenCount, type KeptFilter } from './kept-filter.ts';
import { SourceMenu } from './source-menu.tsx';

interface KeptFilterFormProps {
  readonly project: string;
  readonly filter: KeptFilter;
  readonly onChange: (filter: KeptFilter) => void;
  /** Whether it may ask for feedback. @default true */
  readonly byFeedback?: boolean;
}

/** Which calls an object is about: the filters of the list, without a time. */
export const KeptFilterForm = ({ project, filter, onChange, byFeedback = true }: KeptFilterFormProps) => {
  const { others, rest, ...filters } = filter;
  const search: TracesSearch = { project, ...filters };
  const change = (changes: Changes<TracesSearch>) => {
    const { project: _project, sort: _sort, ...next } = changed<TracesSearch>(search, changes);
    // What calls cost follows from prices, so the service cannot filter by it.
    const where = next.where?.filter(({ path }) => path !== costPath);
    onChange({ ...changed<typeof next>(next, { where: where?.length ? where : undefined }), others, rest });
  };
  const props = { search, onChange: change };
  const chosen = chosenCount(filter);
  const unknown = [
    ...others.map((operation) => JSON.stringify(operation)),
    ...Object.keys(rest).filter((name) => chosen === undefined || name !== 'call_ids'),
  ];
  return (
    <fieldset className="kept-filter">
      <legend>Which calls</legend>
      <div className="filter-row">
        <LevelMenu {...props} />
        <SourceMenu source={filters.source} onChange={(source) => change({ source })} />
        <StatusMenu {...props} />
        {byFeedback ? <FeedbackMenu {...props} /> : null}
        <FilterBuilder {...props} />
        <SearchBox
          label="Text in inputs or output"
          text={filters.text ?? ''}
          onText={(text) => change({ text: text || undefined })}
        />
      </div>
      <Chips {...props} />
      {chosen === undefined ? null : (
        <p className="hint">
          Only from the {countedText(chosen, 'chosen call')}.{' '}
          <button
            type="button"
            className="button quiet"
            onClick={() => {
              const { call_ids: _chosen, ...others } = rest;
              onChange({ ...filter, rest: others });
            }}
          >
            Remove
          </button>
        </p>
      )}
      {unknown.length > 0 ? (
        <p className="hint break">
          And as it was made elsewhere: {unknown.join(', ')}{' '}
          <button
            type="button"
            className="button quiet"
            onClick={() =>
              onChange({
                ...filters,
                others: [],
                rest: chosen === undefined ? {} : { call_ids: rest.call_ids },
              })
            }
          >
            Remove
          </button>
        </p>
      ) : null}
    </fieldset>
  );
};
