import { getRouteApi, Link, Navigate, useNavigate } from '@tanstack/react-router';
import type { ComponentType } from 'react';
import { type SettingsSection, settingsSections } from '../../navigation/search.ts';
import { useTitle } from '../../navigation/title.ts';
import { phone, useMedia } from '../../ui/media.ts';
import { Select } from '../../ui/popups.tsx';
import { View } from '../../ui/view.tsx';
import { AuditSection } from './audit.tsx';
import { DeleteSection } from './delete-project.tsx';
import { RedactionSection, WebhooksSection } from './deployment.tsx';
import { GeneralSection } from './general.tsx';
import { KeysSection } from './keys.tsx';
import { LimitsSection } from './limits.tsx';
import { MembersSection } from './members.tsx';
import { PricesSection } from './prices.tsx';
import { RetentionSection } from './retention.tsx';

const route = getRouteApi('/settings');

interface Part {
  readonly title: string;
  readonly Content: ComponentType<{ readonly project: string }>;
}

/** What each section is called, and what it has. */
const parts: Readonly<Record<SettingsSection, Part>> = {
  general: { title: 'General', Content: GeneralSection },
  members: { title: 'Members', Content: MembersSection },
  keys: { title: 'Keys', Content: KeysSection },
  limits: { title: 'Spending limits', Content: LimitsSection },
  retention: { title: 'Retention', Content: RetentionSection },
  redaction: { title: 'Redaction', Content: RedactionSection },
  webhooks: { title: 'Webhooks', Content: WebhooksSection },
  prices: { title: 'Prices', Content: PricesSection },
  audit: { title: 'Audit', Content: AuditSection },
  delete: { title: 'Delete project', Content: DeleteSection },
};

interface SectionsProps {
  readonly project: string;
  readonly section: SettingsSection;
}

/** Leads to each section: links beside it, or one field above it on a phone. */
const Sections = ({ project, section }: SectionsProps) => {
  const navigate = useNavigate();
  const isPhone = useMedia(phone);
  if (isPhone)
    return (
      <Select
        label="Section"
        value={section}
        options={settingsSections.map((name) => [name, parts[name].title] as const)}
        onChange={(next) => navigate({ to: '/settings', search: { project, section: next } })}
      />
    );
  return (
    <nav aria-label="Settings" className="settings-nav">
      {settingsSections.map((name) => (
        <Link
          key={name}
          to="/settings"
          search={{ project, section: name }}
          className="object-link"
          aria-current={name === section ? 'page' : undefined}
        >
          {parts[name].title}
        </Link>
      ))}
    </nav>
  );
};

/** The settings of a project, section by section. */
export const SettingsView = () => {
  const { project, section = 'general' } = route.useSearch();
  const { title, Content } = parts[section];
  useTitle(title);
  return (
    <View title="Settings" className="settings">
      <div className="settings-columns">
        <Sections project={project} section={section} />
        <div className="settings-section" key={section}>
          <h2>{title}</h2>
          <Content project={project} />
        </div>
      </div>
    </View>
  );
};

const pricesRoute = getRouteApi('/prices');

/** The former address of prices. */
export const PricesRedirect = () => {
  const search = pricesRoute.useSearch();
  return <Navigate to="/settings" search={{ ...search, section: 'prices' }} replace />;
};
