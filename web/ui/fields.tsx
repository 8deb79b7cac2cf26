import { type ComponentProps, type ReactNode, useEffect, useId, useRef, useState } from 'react';
import { Button } from './controls.tsx';
import type { Option } from './options.ts';
import { PickSeveral, Select, Suggest } from './popups.tsx';
import { toLocalTime } from './time.ts';

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

interface InputProps extends Omit<PropsOf<'input'>, 'list' | 'children'> {
  /** Help, below it. @default - none */
  readonly hint?: ReactNode;
  /** What the project has of this, to choose from. @default - none */
  readonly suggestions?: readonly Option<string>[];
}

/** A labelled text or number that one types. Its value is what stands there. */
export const Input = (props: InputProps) => {
  const { label, className = 'field', onChange, type = 'text', hint, suggestions, ...rest } = props;
  const id = useId();
  const attributes = {
    spellCheck: false,
    ...(type === 'number' && { step: 'any' }),
    ...(hint && { 'aria-describedby': `${id}-hint` }),
    ...rest,
    id,
    type,
  };
  return (
    <div className={className}>
      <label htmlFor={id}>{label}</label>
      {suggestions ? (
        <Suggest {...attributes} suggestions={suggestions} onChange={onChange} />
      ) : (
        <input {...attributes} onChange={({ target }) => onChange(target.value)} />
      )}
      {hint ? (
        <span className="hint" id={`${id}-hint`}>
          {hint}
        </span>
      ) : null}
    </div>
  );
};

interface PickerFieldProps extends Pick<InputProps, 'className' | 'hint' | 'placeholder'> {
  readonly label: string;
  readonly values: readonly string[];
  readonly onChange: (values: readonly string[]) => void;
  /** What the project has of this, to choose from. @default - nothing is known */
  readonly suggestions?: readonly string[];
  /** Whether commas stand between values, and in none. @default true */
  readonly commas?: boolean;
}

/** Several texts, chosen or typed: people, labels, groups. */
export const Picker = (props: PickerFieldProps) => {
  const { label, className = 'field', hint, values, onChange, suggestions = [], placeholder, commas } = props;
  const id = useId();
  return (
    <div className={className}>
      <label htmlFor={id} id={`${id}-label`}>
        {label}
      </label>
      <PickSeveral
        id={id}
        labelledBy={`${id}-label`}
        describedBy={hint ? `${id}-hint` : undefined}
        placeholder={placeholder}
        values={values}
        onChange={onChange}
        suggestions={suggestions}
        commas={commas}
      />
      {hint ? (
        <span className="hint" id={`${id}-hint`}>
          {hint}
        </span>
      ) : null}
    </div>
  );
};

interface TimeInputProps extends Pick<InputProps, 'label' | 'hint'> {
  /** A time of the reader, as `2026-10-01T12:30`, or what else was typed; empty for none. */
  readonly value: string;
  readonly onChange: (value: string) => void;
}

/** A moment in the reader's own time, typed as `2026-10-01 12:30`. */
export const TimeInput = ({ value, onChange, ...props }: TimeInputProps) => {
  const [text, setText] = useState(() => value.replace('T', ' '));
  // It changes from outside too, such as by a calendar.
  if (toLocalTime(text) !== value && text !== value) setText(value.replace('T', ' '));
  const box = useRef<HTMLInputElement>(null);
  const isTime = toLocalTime(text) !== undefined;
  useEffect(() => {
    box.current?.setCustomValidity(isTime ? '' : 'Enter a day and a time, such as 2026-10-01 12:30');
  }, [isTime]);
  return (
    <Input
      {...props}
      ref={box}
      placeholder="2026-10-01 12:30"
      value={text}
      onChange={(next) => {
        setText(next);
        onChange(toLocalTime(next) ?? next);
      }}
    />
  );
};

interface SectionProps {
  readonly title: string;
  /** What it is about, below its title. @default - nothing */
  readonly hint?: ReactNode;
  readonly children: ReactNode;
}

/** A part of a form. */
export const Section = ({ title, hint, children }: SectionProps) => (
  <section className="form-section">
    <h2>{title}</h2>
    {hint ? <p className="hint">{hint}</p> : null}
    {children}
  </section>
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
