import { useNavigate } from '@tanstack/react-router';
import { X } from 'lucide-react';
import { useState } from 'react';
import { metricTitle } from '../../../api/shared/alert-metrics.ts';
import { KeptFilterForm } from '../../calls/filters/kept-filter-form.tsx';
import { costText } from '../../data/format.ts';
import { useSession } from '../../session/session.tsx';
import { newObjectId } from '../../session/stored.ts';
import { Button, Check, Notice } from '../../ui/controls.tsx';
import { bindFields, Choice, Input, Section } from '../../ui/fields.tsx';
import { Select, Suggest } from '../../ui/popups.tsx';
import { useWork } from '../../ui/work.ts';
import {
  type Alert,
  type AlertValue,
  alertValue,
  type Draft,
  feedbackAggregations,
  getUnit,
  type Hook,
  measuresCalls,
  metrics,
  ofFeedback,
  toDraft,
  windows,
  windowText,
} from './alert.ts';
import { useStoreAlert, useWebhooks } from './data.ts';
import { isDear, PreviewPane, type Tried } from './preview.tsx';

interface PartProps {
  readonly draft: Draft;
  readonly onChange: (changes: Partial<Draft>) => void;
}

const metricOptions = ({ metric }: Draft): readonly (readonly [string, string])[] => [
  ...Object.keys(metrics).map((name) => [name, metricTitle(name)] as const),
  [ofFeedback, 'A value of feedback'],
  ...(metric in metrics || metric === ofFeedback ? [] : [[metric, metricTitle(metric)] as const]),
];

/** Metric, over which time. */
const Measure = ({ draft, onChange }: PartProps) => {
  const field = bindFields(draft, onChange);
  const all = windows.some(([minutes]) => minutes === draft.window)
    ? windows
    : [...windows, [draft.window, windowText(draft.window)] as const];
  return (
    <div className="alert-fields">
      <Choice label="Metric" options={metricOptions(draft)} {...field('metric')} />
      <Choice
        label="Window"
        value={String(draft.window)}
        options={all.map(([minutes, text]) => [String(minutes), text] as const)}
        onChange={(window) => onChange({ window: Number(window) })}
      />
      {draft.metric === ofFeedback ? (
        <>
          <Input label="Type of feedback" placeholder="thumbs" {...field('feedbackType')} />
          <Input label="Path of the value in the payload" placeholder="value" {...field('path')} />
          <Choice
            label="Aggregation"
            options={feedbackAggregations.map(
              (aggregation) => [aggregation, aggregation === 'avg' ? 'mean' : aggregation] as const,
            )}
            {...field('aggregation')}
          />
        </>
      ) : null}
    </div>
  );
};

const directions = ['above', 'below'] as const;

const comparisons = [
  ['absolute', 'the value'],
  ['day_before', 'change from the day before, in %'],
  ['week_before', 'change from the week before, in %'],
] as const;

const meanings = [
  ['no_data', 'no data'],
  ['ok', 'ok'],
  ['warn', 'a warning'],
  ['alert', 'an alert'],
  ['keep', 'keep the previous state'],
] as const;

/** When it fires. */
const Thresholds = ({ draft, onChange }: PartProps) => {
  const field = bindFields(draft, onChange);
  const unit = getUnit(draft);
  const inUnit = unit === '' ? '' : `, in ${unit}`;
  return (
    <>
      <div className="alert-fields">
        <Choice label="Fires when" options={comparisons} {...field('compare')} />
        <Choice label="is" options={directions} {...field('direction')} />
        <Input label={`Alert${inUnit}`} type="number" {...field('alert')} />
        <Input label={`Warning${inUnit} (optional)`} type="number" {...field('warn')} />
      </div>
      <details className="more-fields">
        <summary>Missing data, consecutive checks and reminders</summary>
        <div className="alert-fields">
          <Choice label="Without data" options={meanings} {...field('noData')} />
          <Input label="Consecutive checks" type="number" {...field('looks')} />
          <Input label="Remind every, in minutes" type="number" placeholder="never" {...field('remind')} />
        </div>
      </details>
    </>
  );
};

const hookFormats: readonly (readonly [Hook['format'], string])[] = [
  ['slack', 'Slack'],
  ['json', 'signed JSON'],
];

/** Whom it tells. */
const Targets = ({ project, draft, onChange }: PartProps & { readonly project: string }) => {
  const { hooks } = draft;
  const known = useWebhooks(project);
  const changeHook = (at: number, changes: Partial<Hook>) =>
    onChange({ hooks: hooks.map((hook, i) => (i === at ? { ...hook, ...changes } : hook)) });
  return (
    <fieldset className="plain-set alert-targets">
      <legend className="hidden">Notify</legend>
      <Check label="SNS topic of the stack" checked={draft.sns} onChange={(sns) => onChange({ sns })} />
      <Check label="Event bus" checked={draft.bus} onChange={(bus) => onChange({ bus })} />
      {hooks.map((hook, at) => (
        <span key={at} className="hook">
          <Suggest
            aria-label={`Name of webhook ${at + 1}`}
            placeholder="name of a webhook"
            spellCheck={false}
            value={hook.name}
            suggestions={known}
            onChange={(name) => changeHook(at, { name })}
          />
          <Select
            fit
            label={`Format of webhook ${at + 1}`}
            value={hook.format}
            options={hookFormats}
            onChange={(format) => changeHook(at, { format })}
          />
          <Button
            kind="quiet"
            aria-label={`Remove webhook ${at + 1}`}
            onClick={() => onChange({ hooks: hooks.filter((_, i) => i !== at) })}
          >
            <X />
          </Button>
        </span>
      ))}
      <Button kind="quiet" onClick={() => onChange({ hooks: [...hooks, { name: '', format: 'slack' }] })}>
        + Webhook
      </Button>
      <p className="hint whole">
        <code>npm run webhooks -- create</code> stores a URL as a secret, under a name.
      </p>
    </fieldset>
  );
};

/** Whether two values measure the same and fire at the same. */
const isAsTried = (a: AlertValue, b: AlertValue): boolean => {
  const [one, other] = [a, b].map(({ name: _n, tell: _t, enabled: _e, remind_minutes: _r, ...rest }) =>
    JSON.stringify(rest),
  );
  return one === other;
};

/** What the form does, with what came of it. */
const useForm = (project: string, draft: Draft, alert: Alert | undefined) => {
  const { client } = useSession();
  const { save } = useStoreAlert(project);
  const navigate = useNavigate();
  const { doing, error, run } = useWork();
  const [tried, setTried] = useState<Tried>();
  const [asked, setAsked] = useState<number>();
  const look = async (value: AlertValue): Promise<Tried> => {
    // What it is called does not matter yet.
    const named = value.name === '' ? { ...value, name: 'preview' } : value;
    const request = { project_id: project, alert: named, include_values: true };
    const preview = await client.ask('/alerts/preview', request);
    const found = { value, preview };
    setTried(found);
    setAsked(undefined);
    return found;
  };
  const store = async () => {
    const value = alertValue(draft, alert?.value.enabled ?? true);
    if (value.name === '') throw new Error('The alert needs a name.');
    const { preview } = tried && isAsTried(tried.value, value) ? tried : await look(value);
    const usd = preview.estimated_usd_per_month;
    if (isDear({ value, preview }) && asked !== usd) {
      setAsked(usd);
      return;
    }
    const id = alert?.id ?? newObjectId('alert');
    await save.mutateAsync({ id, value });
    await navigate({ to: '/alerts', search: { project, alert: id } });
  };
  return {
    doing,
    error,
    tried,
    asked,
    tryIt: () => run(async () => look(alertValue(draft, true)), { as: 'trying' }),
    saveIt: () => run(store, { as: 'saving' }),
  };
};

interface AlertFormProps {
  readonly project: string;
  /** The one that is changed. @default - a new one is made */
  readonly alert: Alert | undefined;
  /** What a new one begins with. */
  readonly first: Draft;
  readonly mayChange: boolean;
}

/** An alert to make or to change, with when it would have fired. */
export const AlertForm = ({ project, alert, first, mayChange }: AlertFormProps) => {
  const [draft, setDraft] = useState(() => (alert ? toDraft(alert.value) : first));
  const { doing, error, tried, asked, tryIt, saveIt } = useForm(project, draft, alert);
  const change = (changes: Partial<Draft>) => setDraft((before) => ({ ...before, ...changes }));
  const field = bindFields(draft, change);
  const busy = doing !== undefined;
  return (
    <section className="stack alert-form" aria-label={alert ? 'Change the alert' : 'New alert'}>
      <Section title="What it measures">
        <Input label="Name" placeholder="Too many errors" {...field('name')} />
        <Measure draft={draft} onChange={change} />
        {!measuresCalls(draft.metric) ? null : (
          <KeptFilterForm
            project={project}
            filter={draft.filter}
            byFeedback={false}
            onChange={(filter) => change({ filter })}
          />
        )}
      </Section>
      <Section title="When it fires">
        <Thresholds draft={draft} onChange={change} />
      </Section>
      <Section title="Who is notified">
        <Targets project={project} draft={draft} onChange={change} />
      </Section>
      {error ? <Notice kind="error">{error}</Notice> : null}
      {asked === undefined ? null : (
        <Notice kind="info">
          Rollups cannot answer this alert, so each check reads the data in its window. That costs about{' '}
          {costText(asked)} a month.
        </Notice>
      )}
      <div className="send wrap">
        <Button idle={busy} onClick={tryIt}>
          {doing === 'trying' ? 'Looking…' : 'Preview the last 30 days'}
        </Button>
        <span className="spring" />
        <Button kind="primary" disabled={!mayChange} idle={busy} onClick={saveIt}>
          {doing === 'saving'
            ? 'Saving…'
            : asked === undefined
              ? 'Save'
              : `Save for ${costText(asked)} a month`}
        </Button>
      </div>
      {tried ? <PreviewPane project={project} tried={tried} /> : null}
    </section>
  );
};
