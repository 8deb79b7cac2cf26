import { apiUrl } from '../../api/http.ts';
import { changeText } from '../../calls/figures/figures.ts';
import { maxRead } from '../../calls/figures/read.ts';
import { resultText } from '../../calls/figures/scores.ts';
import { scoreText } from '../../calls/scores.ts';
import { countedText, countText } from '../../data/format.ts';
import { Code } from '../../ui/code.tsx';
import { CopyButton, Notice } from '../../ui/controls.tsx';
import type { GroupScore, PromptRow } from './data.ts';

interface LabelBadgesProps {
  readonly labels: readonly Pick<PromptRow['labels'][number], 'label' | 'version_index'>[];
  /** Whether it is the newest version, which the label `latest` follows. @default false */
  readonly isLatest?: boolean;
  /** Whether each says which version has it. @default false */
  readonly withVersion?: boolean;
}

/** Labels of a prompt or of a version. */
export const LabelBadges = ({ labels, isLatest = false, withVersion = false }: LabelBadgesProps) =>
  labels.length > 0 || isLatest ? (
    <span className="prompt-labels">
      {labels.map(({ label, version_index }) => (
        <span key={label} className={`badge ${label === 'production' ? 'success' : 'label'}`}>
          <span className="cut" dir="auto">
            {label}
          </span>
          {withVersion && version_index !== null ? <span>v{version_index}</span> : null}
        </span>
      ))}
      {isLatest ? <span className="badge waited">latest</span> : null}
    </span>
  ) : null;

interface ScoresProps {
  readonly scores: readonly GroupScore[];
  readonly group: string;
  /** The group that it is compared with. @default - none */
  readonly before?: string | undefined;
}

/** The scores of a group, in a line. */
export const Scores = ({ scores, group, before = '' }: ScoresProps) => {
  const texts = scores.flatMap(({ score, groups }) => {
    const found = groups.get(group);
    if (!found) return [];
    const change = changeText(groups.get(before)?.mean, found.mean);
    return [{ name: scoreText(score), result: resultText(found), count: found.count, change }];
  });
  if (texts.length === 0) return null;
  return (
    <span
      className="prompt-scores cut"
      title={texts
        .map(({ name, result, count }) => `${name}: ${result}, of ${countedText(count, 'call')}`)
        .join('\n')}
    >
      {texts.map(({ name, result, change }) => (
        <span key={name}>
          <span className="muted">{name}</span> {result}
          {change === undefined ? null : <span className="figure-change">{change}</span>}
        </span>
      ))}
    </span>
  );
};

/** Says why there are no figures. */
export const TooMany = ({ count }: { count: number }) => (
  <Notice kind="info">
    There are {countedText(count, 'call')} in this time. Figures of prompts are counted from the calls
    themselves, and only up to {countText(maxRead)}. Everything else about prompts is here.
  </Notice>
);

/** The lines that a program needs to read a prompt. */
const programText = (project: string, name: string, label: string): string => {
  const query = new URLSearchParams({ project_id: project, name, label });
  const { href } = new URL(`prompt/read?${query}`, apiUrl());
  return [
    `const response = await fetch('${href.replaceAll("'", '%27')}', {`,
    "  headers: { authorization: 'Basic ' + btoa('api:' + process.env.PENNYTRACE_KEY) },",
    '});',
    'const { messages, config, version_index } = await response.json();',
  ].join('\n');
};

interface ProgramProps {
  readonly project: string;
  readonly name: string;
  /** @default 'production' */
  readonly label?: string;
}

/** How a program reads a prompt. */
export const Program = ({ project, name, label = 'production' }: ProgramProps) => {
  const text = programText(project, name, label);
  return (
    <section className="stack program" aria-label="In a program">
      <div className="row-between">
        <h2>In a program</h2>
        <CopyButton text={() => text}>Copy</CopyButton>
      </div>
      <Code text={text} language="javascript" />
    </section>
  );
};
