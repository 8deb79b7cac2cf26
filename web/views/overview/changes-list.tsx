import { Link } from '@tanstack/react-router';
import { durationText } from '../../data/format.ts';
import type { Change, Worse } from './changes.ts';
import { worseCalls } from './links.ts';
import type { Period } from './period.ts';
import type { Dimension } from './search.ts';
import { changeText, percentText } from './texts.ts';
import { useCostText } from './use-cost-text.ts';

/** How many are shown. */
const shownCount = 8;

const words: Readonly<Record<Worse, string>> = {
  slower: 'slower',
  dearer: 'dearer',
  faultier: 'more faulty',
};

interface ChangesListProps {
  readonly project: string;
  readonly period: Period;
  readonly by: Dimension;
  readonly changes: readonly Change[];
  readonly textOf: (group: string) => string;
}

/** What became slower, dearer or more faulty than in the period before. */
export const ChangesList = ({ project, period, by, changes, textOf }: ChangesListProps) => {
  const dearer = useCostText(project);
  const texts: Readonly<Record<Worse, (value: number) => string>> = {
    slower: durationText,
    dearer,
    faultier: percentText,
  };
  return (
    <section className="card metric" aria-label="What became worse">
      <h2>What became worse</h2>
      <p className="hint">
        p95 latency, cost of a call, and share of calls that failed, against the period before.
      </p>
      {changes.length === 0 ? <p className="muted">Nothing did, of what is called often enough.</p> : null}
      <ul className="changes">
        {changes.slice(0, shownCount).map(({ group, worse, before, now }) => (
          <li key={`${worse} ${group}`}>
            <Link to="/traces" search={worseCalls(project, period, by, group, worse)} className="change">
              <span className="cut" dir="auto">
                {textOf(group)}
              </span>
              <span className={`badge ${worse === 'faultier' ? 'error' : 'descendant_error'}`}>
                {words[worse]} {changeText(before, now) ?? ''}
              </span>
              <span className="muted">
                {texts[worse](before)} → {texts[worse](now)}
              </span>
            </Link>
          </li>
        ))}
      </ul>
    </section>
  );
};
