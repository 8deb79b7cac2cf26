/** What can happen to a call or to feedback. */
export type ChangeKind = 'CallEnded' | 'CallFailed' | 'TurnEnded' | 'FeedbackCreated';

/** What can be on the bus. */
export type EventKind = ChangeKind | 'AlertChanged' | 'LimitNearlyReached';
