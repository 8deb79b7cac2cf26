import { ChevronDown } from 'lucide-react';
import { type OtherSource, otherSources, sourceTexts } from '../../navigation/search.ts';
import { Menu } from '../../ui/popups.tsx';

interface SourceMenuProps {
  readonly source: OtherSource | undefined;
  readonly onChange: (source: OtherSource | undefined) => void;
}

/** Chooses whose calls are shown: production's, unless another source or all are chosen. */
export const SourceMenu = ({ source, onChange }: SourceMenuProps) => {
  const present = sourceTexts[source ?? 'production'];
  return (
    <Menu
      name={`Source: ${present}`}
      label={
        <>
          {present} <ChevronDown />
        </>
      }
      items={[undefined, ...otherSources].map((value) => ({
        label: sourceTexts[value ?? 'production'],
        checked: value === source,
        onSelect: () => onChange(value),
      }))}
    />
  );
};
