import type { CallsQueryReq } from '../../api/types.ts';
import { Button } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { Modal } from '../../ui/modal.tsx';

interface QueryDialogProps {
  readonly request: CallsQueryReq;
  /** Whether the page filters the rows itself, by their cost. */
  readonly filtered: boolean;
  readonly open: boolean;
  readonly onClose: () => void;
}

/** Shows the request behind the list, in the words of the query language. */
export const QueryDialog = ({ request, filtered, open, onClose }: QueryDialogProps) => {
  const text = JSON.stringify(request, null, 2);
  return (
    <Modal title="The query of this list" open={open} onClose={onClose}>
      <p className="muted">
        <code>POST /calls/stream_query</code>{' '}
        {filtered
          ? 'answers these calls and more: the filter by cost is the page’s own.'
          : 'answers exactly these calls.'}
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls by keyboard */}
      <pre className="code" tabIndex={0}>
        {text}
      </pre>
      <div className="row-end">
        <CopyButton text={() => text}>Copy</CopyButton>
        <Button kind="primary" onClick={onClose}>
          Close
        </Button>
      </div>
    </Modal>
  );
};
