import type { ComponentProps } from 'react';
import { splitTemplate } from '../../../api/shared/prompt-variables.ts';

/** The longest text whose variables are marked: more would make typing slow. */
const maxMarked = 50_000;

/** A text with its variables marked. */
export const Template = ({ text }: { text: string }) =>
  text.length > maxMarked
    ? text
    : splitTemplate(text).map(({ written, variable }, at) =>
        variable === undefined ? (
          written
        ) : (
          <mark key={at} className="variable">
            {written}
          </mark>
        ),
      );

interface TemplateAreaProps extends Omit<ComponentProps<'textarea'>, 'value' | 'onChange'> {
  readonly value: string;
  readonly onChange: (value: string) => void;
}

/** A text that one types, with its variables marked behind it. */
export const TemplateArea = ({ value, onChange, ...attributes }: TemplateAreaProps) => (
  <div className="template-area">
    {/* The last line counts, too, if it is empty. */}
    <div aria-hidden="true" dir="auto">
      <Template text={value} />
      {'\n'}
    </div>
    <textarea
      dir="auto"
      spellCheck
      {...attributes}
      value={value}
      onChange={({ target }) => onChange(target.value)}
    />
  </div>
);
