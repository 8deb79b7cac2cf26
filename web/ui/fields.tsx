import { type ComponentProps, type ReactNode, useId } from 'react';
import { Button } from './controls.tsx';
import type { Option } from './options.ts';
import { Select } from './popups.tsx';

interface FormProps extends Omit<ComponentProps<'form'>, 'onSubmit'> {
  readonly onSubmit: () => unknown;
}

/** A form that the page itself does something with. */
export const Form = ({ onSubmit, ...props }: FormProps) => (
  <form
    {...props}
    onSubmit={(event) => {
      event.preventDefault();
      onSubmit();
    }}
  />
);

interface LabelledProps {
  readonly label: ReactNode;
  /** The class of the label. @default 'field' */
  readonly className?: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

type PropsOf<Element extends 'input' | 'textarea'> = LabelledProps &
  Omit<ComponentProps<Element>, keyof LabelledProps>;

/** A labelled text or number that one types. Its value is what stands there. Its children follow it. */
export const Input = ({
  label,
  className = 'field',
  onChange,
  type = 'text',
  children,
  ...props
}: PropsOf<'input'>) => (
  <label className={className}>
    <span>{label}</span>
    <input
      spellCheck={false}
      {...(type === 'number' && { step: 'any' })}
      {...props}
      type={type}
      onChange={({ target }) => onChange(target.value)}
    />
    {children}
  </label>
);

interface TextAreaProps extends PropsOf<'textarea'> {
  /** Whether it is code, such as JSON. @default false */
  readonly mono?: boolean;
}

/** A labelled text of several lines. */
export const TextArea = ({ label, className = 'field', onChange, mono, ...props }: TextAreaProps) => (
  <label className={className}>
    <span>{label}</span>
    <textarea
      {...(mono ? { className: 'mono', spellCheck: false } : { dir: 'auto' })}
      {...props}
      onChange={({ target }) => onChange(target.value)}
    />
  </label>
);

interface ChoiceProps<Value extends string> {
  readonly label: string;
  /** The class of the label. @default 'field' */
  readonly className?: string;
  readonly value: Value;
  /** Values with their texts, or values that say it themselves. */
  readonly options: readonly Option<Value>[];
  readonly onChange: (value: Value) => void;
}

/** A labelled choice of one of some values. */
export const Choice = <Value extends string>(props: ChoiceProps<Value>) => {
  const { label, className = 'field', value, options, onChange } = props;
  const id = useId();
  return (
    <div className={className}>
      <label htmlFor={id} id={`${id}-label`}>
        {label}
      </label>
      <Select id={id} labelledBy={`${id}-label`} value={value} options={options} onChange={onChange} />
    </div>
  );
};

interface SegmentsProps<Value extends string | boolean | undefined> {
  /** What is chosen, for screen readers. */
  readonly legend: string;
  /** Whether it takes no more room than it needs. @default false */
  readonly fit?: boolean;
  readonly value: Value;
  readonly options: readonly (readonly [value: Value, text: string])[];
  readonly onChange: (value: Value) => void;
}

/** Buttons beside each other, of which one is pressed. */
export const Segments = <Value extends string | boolean | undefined>(props: SegmentsProps<Value>) => (
  <fieldset className={props.fit ? 'segments fit' : 'segments'}>
    <legend className="hidden">{props.legend}</legend>
    {props.options.map(([optionValue, text]) => (
      <Button
        key={text}
        kind="quiet"
        aria-pressed={props.value === optionValue}
        onClick={() => props.onChange(optionValue)}
      >
        {text}
      </Button>
    ))}
  </fieldset>
);

/**
 * Ties fields to the parts of a draft that they stand for.
 *
 * @example
 * const field = fieldsOf(draft, onChange);
 * return <Input label="Name" {...field('name')} />;
 */
export const bindFields =
  <Draft extends object>(draft: Draft, onChange: (changes: Partial<Draft>) => void) =>
  <Part extends keyof Draft>(part: Part) => ({
    value: draft[part],
    onChange: (value: Draft[Part]) => {
      const changes: Partial<Draft> = {};
      changes[part] = value;
      onChange(changes);
    },
  });
