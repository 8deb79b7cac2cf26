import type { Preview } from '../../api/kind.ts';

/** What a call was asked, and what it gave, each in what is left of a line. */
export const About = ({ input, output }: Preview) => (
  <>
    {input === null ? null : (
      <bdi className="cut asked-line" title={input}>
        {input}
      </bdi>
    )}
    {output === null ? null : (
      <>
        <span className="muted gives" aria-hidden="true">
          →
        </span>
        <bdi className="cut gave-line" title={output}>
          {output}
        </bdi>
      </>
    )}
  </>
);
