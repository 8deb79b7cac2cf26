import { Button } from '../../../ui/button.tsx';
import { Thumb } from '../../../ui/thumb.tsx';
import type { FeedbackState } from './use-feedback.ts';

const choices = [
  { up: true, name: 'Thumbs up' },
  { up: false, name: 'Thumbs down' },
] as const;

/** Thumbs up or down. The other thumb replaces one, the same thumb takes it back. */
export const Thumbs = ({ state }: { state: FeedbackState }) => {
  const given = state.own('thumbs')?.payload.up;
  return (
    <fieldset className="segments">
      <legend className="hidden">Your opinion</legend>
      {choices.map(({ up, name }) => (
        <Button
          key={name}
          kind="quiet"
          aria-label={name}
          aria-pressed={given === up}
          idle={state.busy}
          onClick={() => (given === up ? state.takeBack('thumbs') : state.give('thumbs', { up }))}
        >
          <Thumb up={up} />
        </Button>
      ))}
    </fieldset>
  );
};
