import type { ComponentType } from 'react';

/** What a list opens beside itself: a trace, with what goes on to the next one. */
export interface TracePaneProps {
  readonly project: string;
  readonly trace: string;
  /** The call that is selected. @default - the root */
  readonly call: string | undefined;
  /** What is looked for in the trace. @default - nothing */
  readonly find: string | undefined;
  /** What the list calls the trace, until it is there. @default - nothing */
  readonly name: string | undefined;
  readonly onCall: (call: string) => void;
  /** Goes to the trace of the next row, or of the one before. @default - the list has none */
  readonly onNext: (() => void) | undefined;
  readonly onPrevious: (() => void) | undefined;
  readonly onClose: () => void;
}

/**
 * What shows a trace beside a list. It belongs to the view of traces, which lists may not import: the
 * frame of the page gives it to them. It loads when it is first shown.
 */
export type TracePaneType = ComponentType<TracePaneProps> & {
  readonly preload?: () => Promise<void> | undefined;
};
