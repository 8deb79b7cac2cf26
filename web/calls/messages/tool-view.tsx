import { type ReactNode, useMemo } from 'react';
import { Code } from '../../ui/code.tsx';
import { DiffView } from '../../ui/diff-view.tsx';
import { LongText } from '../../ui/text.tsx';
import { parseToolData, type Task, type ToolBlock } from './tool-data.ts';

const taskSigns: Readonly<Record<Task['state'], string>> = { done: '✓', doing: '▸', open: '○' };

const taskWords: Readonly<Record<Task['state'], string>> = {
  done: 'done',
  doing: 'in progress',
  open: 'open',
};

const Tasks = ({ tasks }: { tasks: readonly Task[] }) => (
  <ul className="tasks">
    {tasks.map(({ text, state }, at) => (
      <li key={at} className={state} dir="auto">
        <span role="img" aria-label={taskWords[state]}>
          {taskSigns[state]}
        </span>{' '}
        {text}
      </li>
    ))}
  </ul>
);

const Table = ({ columns, rows }: Extract<ToolBlock, { kind: 'table' }>) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls by keyboard
  <div className="scroll-x markdown" role="region" aria-label="Table" tabIndex={0}>
    <table>
      <thead>
        <tr>
          {columns.map((name) => (
            <th key={name} scope="col">
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row, at) => (
          <tr key={at}>
            {columns.map((name) => (
              <td key={name} dir="auto" className={typeof row[name] === 'number' ? 'numeric' : ''}>
                {row[name] === null ? '' : String(row[name])}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </div>
);

interface BlockProps {
  readonly block: ToolBlock;
  /** Shows a value that has no shape of its own. */
  readonly toData: (value: unknown) => ReactNode;
}

const Block = ({ block, toData }: BlockProps): ReactNode => {
  switch (block.kind) {
    case 'command':
      return <Code text={block.command} language="bash" sign="$" />;
    case 'diff':
      return <DiffView one={block.before} other={block.after} label="Edit" />;
    case 'code':
      return <Code text={block.text} language={block.language} firstLine={block.firstLine} />;
    case 'tasks':
      return <Tasks tasks={block.tasks} />;
    case 'table':
      return <Table {...block} />;
    case 'text':
      return <LongText text={block.text} />;
    case 'data':
      return toData(block.value);
  }
};

interface ToolDataProps {
  readonly value: unknown;
  /** The file that it is about, if that is known from elsewhere. @default - what the value says itself */
  readonly path?: string | undefined;
  readonly toData: BlockProps['toData'];
}

/** What a tool takes or gives: code as code, edits as diffs, commands, lists of tasks, tables. */
export const ToolData = ({ value, path, toData }: ToolDataProps) => {
  const blocks = useMemo(() => parseToolData(value, path), [value, path]);
  return blocks.map((block, at) => <Block key={at} block={block} toData={toData} />);
};
