import { CopyButton } from '../../ui/copy-button.tsx';
import { LongText } from '../../ui/long-text.tsx';

/** What the call failed with: its message first, then the rest, which mostly is a stack trace. */
export const ErrorPanel = ({ exception }: { exception: string }) => {
  const end = exception.indexOf('\n');
  const message = end < 0 ? exception : exception.slice(0, end);
  const rest = end < 0 ? '' : exception.slice(end + 1);
  return (
    <div className="stack">
      <div className="row-end">
        <CopyButton text={() => exception}>Copy</CopyButton>
      </div>
      <div className="exception">
        <LongText text={message} />
      </div>
      {rest ? (
        <div className="code">
          <LongText text={rest} />
        </div>
      ) : null}
    </div>
  );
};
