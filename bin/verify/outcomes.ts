/** What a check found wrong, and what to do about it. */
export class Red extends Error {
  override readonly name = 'Red';
  readonly advice: string;

  constructor(found: string, advice: string) {
    super(found);
    this.advice = advice;
  }
}

/** A check cannot be tried here. The message says why, and how it could be. */
export class NotTried extends Error {
  override readonly name = 'NotTried';
}
