import { type ReactNode, useState } from 'react';
import { Button } from './button.tsx';

interface CopyButtonProps {
  /** What to copy. It is asked for only when somebody copies: it may be long. */
  readonly text: () => string;
  readonly children: ReactNode;
  readonly label?: string;
}

/** Copies a text, and says whether that worked. */
export const CopyButton = ({ text, children, label }: CopyButtonProps) => {
  const [said, setSaid] = useState<string>();
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text());
      setSaid('Copied');
    } catch {
      // Browsers keep the clipboard from pages without HTTPS. A value may also nest too deeply.
      setSaid('Cannot copy');
    }
    setTimeout(() => setSaid(undefined), 2000);
  };
  return (
    <Button kind="quiet" onClick={copy} aria-label={label}>
      <span aria-live="polite">{said ?? children}</span>
    </Button>
  );
};
