import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { durationText } from '../../data/format.ts';
import type { TracesSearch } from '../../navigation/search.ts';
import { useCostText } from '../prices.ts';
import { type Change, changeText, percentText } from './figures.ts';
import type { Worse } from './requests.ts';

/* What became worse, and figures of a time beside those of another. */

const words: Readonly<Record<Worse, string>> = {
  slower: 'slower',
  dearer: 'more expensive',
  faultier: 'more errors',
};

const toClass = (worse: Worse): string => `badge ${worse === 'faultier' ? 'error' : 'descendant_error'}`;

/** How a change is written: what it was, and what it is. */
const useChangeText = (project: string): ((change: Change) => string) => {
  const dearer = useCostText(project);
  const texts: Readonly<Record<Worse, (value: number) => string>> = {
    slower: durationText,
    dearer,
    faultier: percentText,
  };
  return ({ worse, before, now }) => `${texts[worse](before)} → ${texts[worse](now)}`;
};

interface WorseListProps {
  readonly project: string;
  readonly changes: readonly Change[];
  /** What a line is called. */
  readonly getText: (change: Change) => string;
  /** The calls that show it. */
  readonly getLink: (change: Change) => TracesSearch;
}

/** What became worse, line by line, each with its calls. */
export const WorseList = ({ project, changes, getText, getLink }: WorseListProps) => {
  const toText = useChangeText(project);
  return (
    <ul className="changes">
      {changes.map((change) => {
        const { group, worse, before, now } = change;
        return (
          <li key={`${worse} ${group}`}>
            <Link to="/traces" search={getLink(change)} className="change">
              <span className="cut" dir="auto">
                {getText(change)}
              </span>
              <span className={toClass(worse)}>
                {words[worse]} {changeText(before, now) ?? ''}
              </span>
              <span className="muted">{toText(change)}</span>
            </Link>
          </li>
        );
      })}
    </ul>
  );
};

/** What became worse, in the cell of a table. */
export const WorseBadges = ({ project, changes }: Pick<WorseListProps, 'project' | 'changes'>) => {
  const toText = useChangeText(project);
  return (
    <span className="worse-badges">
      {changes.map((change) => (
        <span key={change.worse} className={toClass(change.worse)} title={toText(change)}>
          {words[change.worse]} {changeText(change.before, change.now) ?? ''}
        </span>
      ))}
    </span>
  );
};

/** A figure of a time, in words. */
export interface Tile {
  readonly title: string;
  readonly text: string;
  /** How it compares with the time before. @default - nothing is said of it */
  readonly change?: { readonly text: string; readonly tone: 'muted' | 'better' | 'worse' };
  /** What is to be known of it. @default - nothing */
  readonly hint?: ReactNode;
  /** The calls behind it. @default - it leads nowhere */
  readonly link?: TracesSearch;
}

/** Figures of a time, each with its calls. */
export const Tiles = ({ label, tiles }: { readonly label: string; readonly tiles: readonly Tile[] }) => (
  <ul className="tiles" aria-label={label}>
    {tiles.map(({ title, text, change, hint, link }) => {
      const content = (
        <>
          <span className="muted">{title}</span>
          <strong>{text}</strong>
          {change ? <span className={`tile-change ${change.tone}`}>{change.text}</span> : null}
          {hint ? <span className="tile-change muted">{hint}</span> : null}
        </>
      );
      return (
        <li key={title}>
          {link ? (
            <Link to="/traces" search={link} className="card tile">
              {content}
            </Link>
          ) : (
            <div className="card tile">{content}</div>
          )}
        </li>
      );
    })}
  </ul>
);
