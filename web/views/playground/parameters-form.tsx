import { type ReactNode, useEffect, useId, useState } from 'react';
import { isObject, jsonIn } from '../../data/values.ts';
import { Select } from '../../ui/popups.tsx';
import { type Draft, parametersIn, withParameter } from './draft.ts';
import { type Field, fieldsFor, numberIn, parseStop, toLines, toolNames } from './parameters.ts';

interface FieldProps<Kind extends Field['kind']> {
  readonly field: Extract<Field, { kind: Kind }>;
  readonly value: unknown;
  readonly onChange: (value: unknown) => void;
}

/**
 * A text that means a value: it stays as it is typed while it means the same, or nothing yet.
 *
 * @param text the value as it would be typed
 * @param read the value of a text: undefined for no value, null for one that cannot be read
 */
const useTyped = (text: string, read: (typed: string) => unknown, onChange: (value: unknown) => void) => {
  const [typed, setTyped] = useState(text);
  const normalize = (text: string) => JSON.stringify(read(text));
  useEffect(() => {
    setTyped((before) => (JSON.stringify(read(before)) === JSON.stringify(read(text)) ? before : text));
  }, [text, read]);
  const type = (next: string) => {
    setTyped(next);
    const value = read(next);
    if (value !== null && normalize(next) !== normalize(typed)) onChange(value);
  };
  return { typed, wrong: read(typed) === null, type };
};

interface LabelledProps {
  readonly label: string;
  readonly children: (id: string) => ReactNode;
}

const Labelled = ({ label, children }: LabelledProps) => {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {children(id)}
    </div>
  );
};

const NumberField = ({ field, value, onChange }: FieldProps<'number'>) => {
  const { typed, wrong, type } = useTyped(typeof value === 'number' ? String(value) : '', numberIn, onChange);
  return (
    <Labelled label={field.label}>
      {(id) => (
        <input
          id={id}
          inputMode="decimal"
          placeholder={field.hint}
          aria-invalid={wrong}
          value={typed}
          onChange={(event) => type(event.target.value)}
        />
      )}
    </Labelled>
  );
};

const ChoiceField = ({ field, value, onChange }: FieldProps<'choice'>) => {
  const isOther = value !== undefined && !(typeof value === 'string' && field.values.includes(value));
  return (
    <Labelled label={field.label}>
      {(id) => (
        <Select
          id={id}
          label={field.label}
          value={isOther ? 'as written' : String(value ?? '')}
          options={[['', 'default'], ...(isOther ? ['as written'] : []), ...field.values]}
          onChange={(next) => next === 'as written' || onChange(next || undefined)}
        />
      )}
    </Labelled>
  );
};

const LinesField = ({ field, value, onChange }: FieldProps<'lines'>) => {
  const { typed, type } = useTyped(toLines(value), parseStop, onChange);
  return (
    <Labelled label={field.label}>
      {(id) => (
        <textarea
          id={id}
          rows={1}
          placeholder={field.hint}
          value={typed}
          onChange={(event) => type(event.target.value)}
        />
      )}
    </Labelled>
  );
};

const emptySchema = {
  type: 'json_schema',
  json_schema: { name: 'answer', strict: true, schema: { type: 'object' } },
};

const FormatField = ({ field, value, onChange }: FieldProps<'format'>) => {
  const type = isObject(value) && typeof value.type === 'string' ? value.type : '';
  const formats: Readonly<Record<string, unknown>> = {
    text: { type: 'text' },
    json_object: { type: 'json_object' },
    json_schema: emptySchema,
  };
  return (
    <>
      <Labelled label={field.label}>
        {(id) => (
          <Select
            id={id}
            label={field.label}
            value={type}
            options={[['', 'default'], ...Object.keys(formats)]}
            onChange={(next) => onChange(formats[next])}
          />
        )}
      </Labelled>
      {type === 'json_schema' ? (
        <JsonText label="Schema of the answer" value={value} onChange={onChange} />
      ) : null}
    </>
  );
};

const valueIn = (text: string): unknown => {
  if (text.trim() === '') return undefined;
  const value = jsonIn(text);
  return value === undefined ? null : value;
};

const jsonText = (value: unknown): string => (value === undefined ? '' : JSON.stringify(value, null, 2));

/** A value as JSON, which is taken once it can be read. */
const JsonText = ({
  label,
  value,
  onChange,
}: {
  label: string;
  value: unknown;
  onChange: (value: unknown) => void;
}) => {
  const { typed, wrong, type } = useTyped(jsonText(value), valueIn, onChange);
  const id = useId();
  return (
    <div className="field whole">
      <label htmlFor={id}>
        {label}, as JSON{wrong ? <span className="error-text"> · not JSON yet</span> : null}
      </label>
      <textarea
        id={id}
        className="mono"
        aria-invalid={wrong}
        rows={Math.min(12, Math.max(2, typed.split('\n', 13).length))}
        spellCheck={false}
        value={typed}
        onChange={(event) => type(event.target.value)}
      />
    </div>
  );
};

const JsonField = ({ field, value, onChange }: FieldProps<'json'>) => {
  const names = toolNames(value);
  return (
    <details className="whole">
      <summary>
        {field.label}: <span dir="auto">{names.length > 0 ? names.join(', ') : 'none'}</span>
      </summary>
      <JsonText label={field.label} value={value} onChange={onChange} />
    </details>
  );
};

const FieldView = ({
  field,
  ...rest
}: {
  field: Field;
  value: unknown;
  onChange: (value: unknown) => void;
}) => {
  switch (field.kind) {
    case 'number':
      return <NumberField field={field} {...rest} />;
    case 'choice':
      return <ChoiceField field={field} {...rest} />;
    case 'lines':
      return <LinesField field={field} {...rest} />;
    case 'format':
      return <FormatField field={field} {...rest} />;
    case 'json':
      return <JsonField field={field} {...rest} />;
  }
};

interface ParametersFormProps {
  readonly draft: Draft;
  readonly onChange: (parameters: string) => void;
}

/** The parameters of a request: a form for what its model knows, and all of them as JSON. */
export const ParametersForm = ({ draft, onChange }: ParametersFormProps) => {
  const { model, parameters: text } = draft;
  const parameters = parametersIn(draft);
  const id = useId();
  return (
    <>
      {parameters ? (
        <div className="parameters">
          {fieldsFor(model, parameters).map((field) => (
            <FieldView
              key={field.name}
              field={field}
              value={parameters[field.name]}
              onChange={(value) => onChange(withParameter(draft, field.name, value))}
            />
          ))}
        </div>
      ) : null}
      <details open={parameters ? undefined : true}>
        <summary>All parameters as JSON</summary>
        <div className="field">
          <label htmlFor={id}>Parameters, as JSON</label>
          <textarea
            id={id}
            className="mono"
            value={text}
            rows={Math.min(12, Math.max(3, text.split('\n', 13).length))}
            spellCheck={false}
            onChange={(event) => onChange(event.target.value)}
          />
        </div>
      </details>
    </>
  );
};
